:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(slot(up/0, -1, given)).
