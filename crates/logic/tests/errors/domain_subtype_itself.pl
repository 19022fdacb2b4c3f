:- action(move(block, place)).
:- subtype(block, block).
