:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(above(b, b)).
above(X, Y) :- on(X, Y).
above(X, Y, Z) :- on(X, Y), above(Y, Z).
