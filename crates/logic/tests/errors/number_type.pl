green(P) :- x(P) > 3.
