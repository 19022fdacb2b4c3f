% Let passengers out and in, take those on board to where they want to go, then fetch one who waits.
0.99::depart(F, P) :- boarded(P).
0.98::board(F, P) :- origin(P, F), \+ boarded(P), \+ served(P).
0.97::up(F, G) :- boarded(P), destin(P, G).
0.97::down(F, G) :- boarded(P), destin(P, G).
0.96::up(F, G) :- origin(P, G), \+ served(P).
0.96::down(F, G) :- origin(P, G), \+ served(P).
