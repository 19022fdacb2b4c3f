:- action(up).
:- variables(-2).
