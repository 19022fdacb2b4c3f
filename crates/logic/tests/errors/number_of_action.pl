green(P) :- left > 3.
