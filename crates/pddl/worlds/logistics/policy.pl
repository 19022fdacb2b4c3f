% A package goes by truck to the airport of its city if it belongs to another city, by airplane to that city, and by truck to its goal.
:- derived(port(airport)).
:- derived(home(package, city)).
:- derived(abroad(package)).
:- derived(local(package)).
:- derived(wants(package, place)).
port(X) :- in_city(X, C).
home(P, C) :- goal_at(P, L), in_city(L, C).
local(P) :- at(P, L), in_city(L, C), home(P, C).
local(P) :- in(P, T), at(T, L), in_city(L, C), home(P, C).
abroad(P) :- home(P, C), \+ local(P).
wants(P, L) :- local(P), goal_at(P, L).
wants(P, L) :- abroad(P), in_city(L, C), port(L), at(P, M), in_city(M, C).
wants(P, L) :- abroad(P), in_city(L, C), port(L), in(P, T), at(T, M), in_city(M, C).
wants(P, L) :- abroad(P), port(L), in(P, T), at(T, L).
0.99::unload_airplane(P, A, L) :- local(P).
0.98::unload_truck(P, T, L) :- wants(P, L).
0.97::load_airplane(P, A, L) :- abroad(P).
0.96::load_truck(P, T, L) :- wants(P, M).
0.95::fly_airplane(A, L, M) :- in(P, A), home(P, C), in_city(M, C).
0.94::drive_truck(T, L, M, C) :- in(P, T), wants(P, M).
0.93::drive_truck(T, L, M, C) :- at(P, M), wants(P, N).
0.92::fly_airplane(A, L, M) :- at(P, M), abroad(P).
