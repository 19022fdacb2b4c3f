move(X, Y) :- top(X), \+ on(_, X).
