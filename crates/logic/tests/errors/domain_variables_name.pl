:- action(up).
:- variables(three).
