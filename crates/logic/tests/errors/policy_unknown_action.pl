mov(X, Y) :- top(X).
