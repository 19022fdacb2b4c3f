open(front) :- carrying(X).
