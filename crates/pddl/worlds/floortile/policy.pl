% Paint row by row from the top, each tile from the tile below it, so that what is not painted stays in one piece.
:- derived(open(tile)).
:- derived(beside(tile, tile)).
:- closure(row, beside).
:- derived(waits(tile)).
:- derived(ready(tile)).
:- derived(step(tile, tile)).
:- derived(target(tile)).
:- distance(nearer, step, target).
open(Y) :- goal_painted(Y, C), \+ painted(Y, C).
beside(X, Y) :- right(X, Y).
beside(X, Y) :- left(X, Y).
waits(Y) :- up(Z, Y), open(Z).
waits(Y) :- up(Z, Y), row(Z, W), open(W).
ready(Y) :- open(Y), clear(Y), \+ waits(Y).
target(X) :- up(Y, X), ready(Y).
step(X, Y) :- up(Y, X), clear(Y).
step(X, Y) :- down(Y, X), clear(Y).
step(X, Y) :- beside(Y, X), clear(Y).
0.99::paint_up(R, Y, X, C) :- goal_painted(Y, C), ready(Y).
0.98::change_color(R, C, D) :- robot_at(R, X), up(Y, X), ready(Y), goal_painted(Y, D).
0.97::move_up(R, X, Y) :- nearer(X, Y).
0.97::move_down(R, X, Y) :- nearer(X, Y).
0.97::move_right(R, X, Y) :- nearer(X, Y).
0.97::move_left(R, X, Y) :- nearer(X, Y).
0.96::move_down(R, X, Y) :- clear(Y).
0.95::move_right(R, X, Y) :- clear(Y).
0.95::move_left(R, X, Y) :- clear(Y).
