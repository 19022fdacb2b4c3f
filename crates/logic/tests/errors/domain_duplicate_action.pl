:- action(move(block, place)).
:- action(move(block, block)).
