:- environment(blocks).
move(X, Y) :- top(X).
