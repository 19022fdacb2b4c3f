move(X) :- top(X).
