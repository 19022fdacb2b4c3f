green(P) :- most(angle).
