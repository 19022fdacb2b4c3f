:- action(up).
:- state(p/4000000000).
