:- action(up).
:- number(angle, 3).
