:- object(X, block).
top(a).
