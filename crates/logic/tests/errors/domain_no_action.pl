:- environment(blocks).
:- state(top(block)).
