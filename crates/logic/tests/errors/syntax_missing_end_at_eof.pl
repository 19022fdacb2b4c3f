move(X, Y) :- top(X)

