:- environment(blocks).
:- environment(gridworld).
:- action(up).
