0.99 move(X, Y) :- top(X).
