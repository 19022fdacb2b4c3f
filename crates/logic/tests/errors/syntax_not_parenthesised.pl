move(X, Y) :- top(Y), not(top(X)).
