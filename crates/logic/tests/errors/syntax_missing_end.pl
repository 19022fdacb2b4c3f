move(X, Y) :- top(X), top(Y)
move(X, Y) :- top(X), isFloor(Y).
