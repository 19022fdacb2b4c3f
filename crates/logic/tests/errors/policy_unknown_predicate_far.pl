move(X, Y) :- clear(X).
