:- action(up).
:- state(north).
false.
