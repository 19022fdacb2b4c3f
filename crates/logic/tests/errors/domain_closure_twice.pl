:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- closure(above, on).
:- derived(above(b, b)).
above(X, Y) :- on(X, Y).
