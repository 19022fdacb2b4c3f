% Drop a ball where it belongs, pick up one that belongs elsewhere, go where a carried ball belongs, go to a ball that waits.
0.99::drop(B, R, G) :- goal_at(B, R).
0.98::pick(B, R, G) :- goal_at(B, S).
0.97::move(R, S) :- carry(B, G), goal_at(B, S).
0.96::move(R, S) :- at(B, S), goal_at(B, T).
0.95::move(R, S) :- at(B, S), goal_at(B, R).
