% A block is settled if it stands where it belongs and so does everything below it. Build on what is settled; else take down
% what is not.
:- derived(wanted(block)).
:- derived(settled(block)).
wanted(X) :- goal_on(X, Y).
settled(X) :- on_table(X), \+ wanted(X).
settled(X) :- on(X, Y), goal_on(X, Y), settled(Y).
0.99::from_table(X, Y) :- goal_on(X, Y), settled(Y).
0.99::move(X, Z, Y) :- goal_on(X, Y), settled(Y).
0.98::to_table(X, Y) :- \+ settled(X).
