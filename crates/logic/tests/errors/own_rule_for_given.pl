:- derived(near(block)).
near(X) :- top(X).
top(X) :- near(X).
