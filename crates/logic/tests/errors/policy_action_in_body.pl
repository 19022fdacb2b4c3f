move(X, Y) :- top(X), move(Y, X).
