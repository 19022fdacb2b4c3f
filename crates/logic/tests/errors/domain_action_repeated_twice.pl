:- action(move/2).
:- action(move(X, X)).
:- action(move(Y, Y)).
:- state(on/2).
