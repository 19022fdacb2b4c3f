:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(invent(near/9999999)).
