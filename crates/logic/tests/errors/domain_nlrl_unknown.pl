:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(stops(3)).
