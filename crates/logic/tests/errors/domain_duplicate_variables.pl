:- action(up).
:- variables(2).
:- variables(3).
