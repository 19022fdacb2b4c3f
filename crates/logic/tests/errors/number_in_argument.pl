green(P) :- current(queue(P) > 3).
