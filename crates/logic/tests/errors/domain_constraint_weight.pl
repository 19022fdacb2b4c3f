:- action(up).
:- state(north).
0.5::false :- north.
