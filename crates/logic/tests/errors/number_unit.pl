green(P) :- current(P), wait(P) > queue(P).
