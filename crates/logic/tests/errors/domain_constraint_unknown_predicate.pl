:- action(move/2).
:- state(on/2).
false :- onn(X, Y), on(Y, X).
