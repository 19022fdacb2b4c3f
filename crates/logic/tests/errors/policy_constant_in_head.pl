move(X, floor) :- top(X).
