:- action(up).
:- state(north).
:- negation(up/0).
