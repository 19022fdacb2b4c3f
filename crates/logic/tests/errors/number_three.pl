green(P) :- queue(P) > angle + wait(P) + x(Q).
