:- action(move(block, place)).
:- rules(mvoe/2, 2).
