:- action(up).
:- variable(3).
