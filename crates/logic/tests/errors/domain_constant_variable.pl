:- action(up).
:- constant(Floor).
