green(P) :- \+ least(queue(P)).
