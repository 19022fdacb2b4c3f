green(P) :- queue(P) + 3.
