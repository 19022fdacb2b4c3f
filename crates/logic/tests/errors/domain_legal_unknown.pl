:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- legal(run/1).
