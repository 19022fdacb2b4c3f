green(P) :- current(P), P > 3.
