:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(invent(p(block))).
:- nlrl(slot(up/0, 1, given)).
:- nlrl(slot(put/1, 1, given)).
