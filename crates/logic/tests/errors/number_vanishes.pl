green(P) :- queue(P) > queue(P) + 2.
