:- action(send(thing, place, thing)).
:- action(send(X, X, Y)).
:- state(on(thing, place)).
