:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(steps(2)).
:- nlrl(slot(up/0, 1, given)).
