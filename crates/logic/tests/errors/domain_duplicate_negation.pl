:- action(up).
:- state(north).
:- negation(north/0).
:- negation(north/0).
