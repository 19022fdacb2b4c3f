:- action(up).
:- state(north).
false :- up, north.
