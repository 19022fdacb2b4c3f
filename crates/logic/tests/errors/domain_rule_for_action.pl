:- action(up).
:- state(north).
up :- north.
