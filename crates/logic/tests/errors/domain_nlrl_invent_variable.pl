:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(invent(p(X))).
