:- action(up).
:- state(up).
