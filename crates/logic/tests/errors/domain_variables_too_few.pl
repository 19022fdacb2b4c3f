:- action(move(block, place)).
:- variables(1).
