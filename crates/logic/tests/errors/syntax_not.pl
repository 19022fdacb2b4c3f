move(X, Y) :- not top(X).
