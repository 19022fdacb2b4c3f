left :- zzz(X) > 0.02, current(X).
