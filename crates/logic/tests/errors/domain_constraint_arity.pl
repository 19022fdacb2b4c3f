:- action(move/2).
:- state(on(block, place)).
false :- on(X, Y, Z).
