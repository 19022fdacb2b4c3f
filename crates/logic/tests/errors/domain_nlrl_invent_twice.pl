:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(invent(p/1)).
:- nlrl(invent(p(block))).
