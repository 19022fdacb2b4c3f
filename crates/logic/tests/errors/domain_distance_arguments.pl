:- action(go(b)). :- state(on(b, b)). :- state(top(b)).
:- distance(nearer).
