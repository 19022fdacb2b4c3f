% Drop packages where they belong and take those that wait; a vehicle drives to the nearest place where something on it belongs, and
% one that is empty to the nearest package.
:- derived(waiting(package, location)).
:- derived(loaded(vehicle)).
:- derived(step(vehicle, location, vehicle, location)).
:- derived(delivery(vehicle, location)).
:- derived(pickup(vehicle, location)).
:- distance(to_deliver, step, delivery).
:- distance(to_fetch, step, pickup).
waiting(P, L) :- at(P, L), goal_at(P, M).
loaded(V) :- in(P, V).
step(V, L, V, M) :- capacity(V, S), road(L, M).
delivery(V, L) :- in(P, V), goal_at(P, L).
pickup(V, L) :- capacity(V, S), \+ loaded(V), waiting(P, L).
0.99::drop(V, L, P, S, T) :- goal_at(P, L).
0.98::pick_up(V, L, P, S, T) :- waiting(P, L).
0.97::drive(V, L, M) :- to_deliver(V, L, V, M).
0.96::drive(V, L, M) :- to_fetch(V, L, V, M).
