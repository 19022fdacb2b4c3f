:- action(up).
:- state(at/1).
at(X).
