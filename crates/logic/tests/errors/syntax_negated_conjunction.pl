move(X, Y) :- \+ (top(X), top(Y)).
