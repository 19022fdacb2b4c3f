:- action(up).
:- action(put(block)).
:- state(on(block, place)).
:- nlrl(slot(ip/0, 1, given)).
