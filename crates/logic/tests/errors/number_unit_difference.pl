green(P) :- queue(P) - x(Q) > 2.
