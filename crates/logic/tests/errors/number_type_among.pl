green(P) :- queue(P) > x(Q).
