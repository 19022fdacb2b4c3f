:- action(up).
:- rules(up/0).
