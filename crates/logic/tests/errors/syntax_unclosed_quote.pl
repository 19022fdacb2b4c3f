:- environment('blocks).
:- action(up).
