left :- most(queue(P)).
