% A block is settled if it stands where it belongs and so does everything below it. Build on what is settled; else take down
% what is not.
:- derived(wanted(block)).
:- derived(settled(block)).
wanted(X) :- goal_on(X, Y).
settled(X) :- on_table(X), \+ wanted(X).
settled(X) :- on(X, Y), goal_on(X, Y), settled(Y).
0.99::stack(X, Y) :- goal_on(X, Y), settled(Y).
0.98::putdown(X) :- holding(X).
0.97::pickup(X) :- goal_on(X, Y), clear(Y), settled(Y).
0.96::unstack(X, Y) :- \+ settled(X), goal_on(X, Z), clear(Z), settled(Z).
0.95::unstack(X, Y) :- \+ settled(X).
