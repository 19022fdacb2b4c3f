:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
above(X, Y) :- on(X, Y).
