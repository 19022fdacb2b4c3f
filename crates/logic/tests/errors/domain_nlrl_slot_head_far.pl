:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(invent(p/1)).
:- nlrl(slot(on/2, 1, given)).
