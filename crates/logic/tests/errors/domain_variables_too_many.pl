:- action(up).
:- variables(33).
