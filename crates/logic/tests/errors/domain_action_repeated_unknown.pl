:- action(send(thing, place)).
:- action(sent(X, X)).
:- state(on(thing, place)).
