green(P) :- queue(P, Q) > 3.
