:- action(up).
:- number(angle).
:- state(angle).
