top(X) :- isFloor(X).
