move(X, Y) :- on(X, s(Y)).
