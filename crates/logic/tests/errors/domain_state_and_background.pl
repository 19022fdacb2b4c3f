:- action(up).
:- state(on/2).
:- background(on/2).
