:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(steps(0)).
