:- action(up).
:- variables(0).
