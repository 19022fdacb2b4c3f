queue(p1) = 7 :- current(p1).
