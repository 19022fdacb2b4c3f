:- action(move(block, place)).
:- subtype(block, any).
