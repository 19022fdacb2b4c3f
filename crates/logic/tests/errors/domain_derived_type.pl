:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(near(b, place)).
near(X, Y) :- on(X, Y).
