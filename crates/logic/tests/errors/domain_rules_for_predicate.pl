:- action(move(block, place)).
:- state(top(block)).
:- rules(top/1, 2).
