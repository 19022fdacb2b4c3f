:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(four(b, b, b, b)).
four(X, Y, Z, U) :- on(X, Y), on(Z, U).
:- derived(three(b, b, b)).
three(X, Y, Z) :- on(X, Y), top(Z).
