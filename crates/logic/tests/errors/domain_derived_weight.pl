:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(above(b, b)).
0.5::above(X, Y) :- on(X, Y).
