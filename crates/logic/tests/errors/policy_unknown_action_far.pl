stack(X, Y) :- top(X).
