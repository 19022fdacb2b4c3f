:- action(up).
/* the rest is commented out
:- state(north).
