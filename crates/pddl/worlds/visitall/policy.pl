% Go to the nearest place that is to be visited.
:- derived(open(place)).
:- distance(nearer, connected, open).
open(X) :- goal_visited(X), \+ visited(X).
move(X, Y) :- nearer(X, Y).
