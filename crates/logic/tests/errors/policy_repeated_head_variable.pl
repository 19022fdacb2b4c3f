move(X, X) :- top(X).
