:- action(move/2).
:- action(move(X, X)).
:- state(on/2).
:- legal(move/2).
move(X, Y) :- on(X, Y).
