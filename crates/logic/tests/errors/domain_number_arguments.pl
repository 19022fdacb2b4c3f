:- action(up).
:- number(angle, metre, 3).
