:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- derived(win(b)).
:- derived(lose(b)).
win(X) :- on(X, Y), lose(Y).
lose(X) :- top(X), \+ win(X).
