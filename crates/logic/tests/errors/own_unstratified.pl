:- derived(near(block)).
near(X) :- top(X), \+ near(X).
