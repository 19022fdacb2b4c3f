:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(clear(b)).
clear(X) :- \+ on(Y, X).
