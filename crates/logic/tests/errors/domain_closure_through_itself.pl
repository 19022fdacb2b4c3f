:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(link(b, b)).
:- closure(reach, link).
link(X, Y) :- on(X, Y), reach(Y, X).
