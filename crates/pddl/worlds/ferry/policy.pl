% Debark where the car belongs, board a car that belongs elsewhere, sail with it to its goal, sail to a car that waits.
0.99::debark(C, L) :- goal_at(C, L).
0.98::board(C, L) :- goal_at(C, M).
0.97::sail(L, M) :- on(C), goal_at(C, M).
0.96::sail(L, M) :- empty_ferry, at(C, M), goal_at(C, N).
0.95::sail(L, M) :- empty_ferry, at(C, M), goal_at(C, L).
