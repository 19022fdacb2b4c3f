:- action(move(block, place)).
:- subtype(block, place).
:- subtype(block, place).
