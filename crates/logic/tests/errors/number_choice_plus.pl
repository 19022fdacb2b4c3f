green(P) :- least(queue(P) + 2).
