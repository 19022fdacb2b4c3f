:- action(up).
:- state(false).
