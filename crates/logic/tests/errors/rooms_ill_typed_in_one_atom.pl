open(X) :- door(X), in(Y, Y).
