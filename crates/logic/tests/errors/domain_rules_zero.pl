:- action(up).
:- rules(up/0, 0).
