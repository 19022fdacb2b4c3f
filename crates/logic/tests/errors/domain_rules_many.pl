:- action(up).
:- rules(up/0, 1000000).
