:- action(move(block, place)).
:- rules(move, 2).
