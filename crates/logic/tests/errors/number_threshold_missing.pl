green(P) :- queue(P) > .
