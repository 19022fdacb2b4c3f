:- action(move(block, place)).
:- subtype(block, place).
:- subtype(place, thing).
:- subtype(thing, block).
