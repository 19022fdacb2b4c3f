:- action(move(block, place)).
:- state(on(block, place)).
false :- on(X, X).
