:- derived(on(block, place)).
on(X, Y) :- top(X), top(Y).
