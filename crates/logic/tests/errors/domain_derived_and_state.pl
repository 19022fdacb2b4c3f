:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(on(b, b)).
on(X, Y) :- top(X), top(Y).
