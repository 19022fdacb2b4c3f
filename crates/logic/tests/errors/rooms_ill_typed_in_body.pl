open(X) :- door(X), at(Y), key(Y).
