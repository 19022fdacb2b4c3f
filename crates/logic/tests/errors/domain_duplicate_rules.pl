:- action(up).
:- rules(up/0, 2).
:- rules(up/0, auto).
