:- action(up).
:- constant(floor).
:- constant('floor').
