:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(above(b, b)).
