1.01 :: move(X, Y) :- top(X).
