move(X, Y)::0.99 :- top(X).
