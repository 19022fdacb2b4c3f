:- action(move(block, place)).
:- state(on(block, place)).
:- background(key(key)).
false :- on(X, Y), key(X).
