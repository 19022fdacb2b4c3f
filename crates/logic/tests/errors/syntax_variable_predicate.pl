move(X, Y) :- Top(X).
