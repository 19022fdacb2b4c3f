:- environment(3).
:- action(up).
