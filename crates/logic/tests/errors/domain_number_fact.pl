:- action(up).
:- number(angle).
angle = 3.
