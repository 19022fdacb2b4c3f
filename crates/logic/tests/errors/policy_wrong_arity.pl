move(X, Y) :- top(X), on(X).
