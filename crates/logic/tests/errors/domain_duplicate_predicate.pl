:- action(up).
:- state(on/2).
:- state(on(block, place)).
