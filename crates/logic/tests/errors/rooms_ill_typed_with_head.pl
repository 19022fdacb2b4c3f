open(X) :- room(X).
