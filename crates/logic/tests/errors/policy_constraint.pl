false :- top(X), on(Y, X).
