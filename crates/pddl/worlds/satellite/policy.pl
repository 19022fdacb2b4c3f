% One instrument after another: switch it on, calibrate it, and take all images that it can. In the end turn to where to point.
:- derived(wanted(direction, mode)).
:- derived(useful(instrument)).
wanted(D, M) :- goal_have_image(D, M), \+ have_image(D, M).
useful(I) :- supports(I, M), wanted(D, M).
0.99::take_image(S, D, I, M) :- wanted(D, M).
0.98::calibrate(S, I, D) :- useful(I), \+ calibrated(I).
0.97::turn_to(S, D, E) :- on_board(I, S), calibrated(I), power_on(I), supports(I, M), wanted(D, M).
0.96::turn_to(S, D, E) :- on_board(I, S), power_on(I), useful(I), \+ calibrated(I), calibration_target(I, D).
0.95::switch_on(I, S) :- useful(I).
0.94::switch_off(I, S) :- on_board(J, S), useful(J).
0.93::turn_to(S, D, E) :- goal_pointing(S, D).
