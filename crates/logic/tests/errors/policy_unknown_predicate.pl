% a comment
0.99::move(X, Y) :- top(X), isFloor(Y).
move(X,Y) :- top(X), onn(X,Z).
