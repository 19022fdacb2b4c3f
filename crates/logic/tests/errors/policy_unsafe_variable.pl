move(X, Y) :- top(X), \+ on(Z, X).
