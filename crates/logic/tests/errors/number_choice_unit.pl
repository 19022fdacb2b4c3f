green(P) :- least(queue(P) - wait(P)).
