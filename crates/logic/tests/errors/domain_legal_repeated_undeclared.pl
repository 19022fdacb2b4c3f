:- action(move/2).
:- state(on/2).
:- legal(move/2).
move(X, Y) :- on(X, Y).
move(X, X) :- on(X, X).
