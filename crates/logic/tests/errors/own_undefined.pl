:- derived(near(block)).
move(X, Y) :- near(X), top(Y).
