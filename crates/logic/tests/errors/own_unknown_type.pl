:- derived(near(blok)).
near(X) :- top(X).
