:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- legal(go/1).
