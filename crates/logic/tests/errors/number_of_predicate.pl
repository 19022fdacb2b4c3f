green(P) :- current(P) > 3.
