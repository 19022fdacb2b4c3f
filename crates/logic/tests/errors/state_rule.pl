top(X) :- on(X, a).
