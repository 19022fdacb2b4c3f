:- action(move(Block, place)).
