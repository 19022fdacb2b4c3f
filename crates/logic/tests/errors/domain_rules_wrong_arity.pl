:- action(move(block, place)).
:- rules(move/3, 2).
