green(P) :- queue(P) > P.
