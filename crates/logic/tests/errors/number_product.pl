green(P) :- queue(P)*wait(P) > 3.
