green(P) :- queue(P), current(P).
