% What is found is sent as soon as the lander is in sight: also from where it was found, or about where the lander is.
0.99::communicate_soil_data(R, L, P, X, Y) :- want_soil(P), have_soil_analysis(R, P), at(R, X), at_lander(L, Y), visible(X, Y).
0.99::communicate_soil_data(R, L, P, P, Y) :- want_soil(P), have_soil_analysis(R, P), at(R, P), at_lander(L, Y), visible(P, Y).
0.99::communicate_soil_data(R, L, P, X, P) :- want_soil(P), have_soil_analysis(R, P), at(R, X), at_lander(L, P), visible(X, P).
0.99::communicate_rock_data(R, L, P, X, Y) :- want_rock(P), have_rock_analysis(R, P), at(R, X), at_lander(L, Y), visible(X, Y).
0.99::communicate_rock_data(R, L, P, P, Y) :- want_rock(P), have_rock_analysis(R, P), at(R, P), at_lander(L, Y), visible(P, Y).
0.99::communicate_rock_data(R, L, P, X, P) :- want_rock(P), have_rock_analysis(R, P), at(R, X), at_lander(L, P), visible(X, P).
0.99::communicate_image_data(R, L, O, M, X, Y) :- want_image(O, M), have_image(R, O, M), at(R, X), at_lander(L, Y), visible(X, Y).

% What is to be done where a rover is, is done.
0.98::sample_soil(R, S, P) :- take_soil(P), sends(R, P), at(R, P).
0.98::sample_rock(R, S, P) :- take_rock(P), sends(R, P), at(R, P).
0.98::take_image(R, W, O, C, M) :- take_picture(O, M), sends(R, W), at(R, W), calibrated(C, R).
0.97::drop(R, S) :- full(S), soil_at(R, P), at(R, P).
0.97::drop(R, S) :- full(S), rock_at(R, P), at(R, P).
0.96::calibrate(R, C, O, W) :- of_use(C, R), \+ calibrated(C, R), at(R, W).

% The rest is ways: with what was found to where the lander is in sight, then to samples, then to pictures.
0.9::navigate(R, X, Y) :- at(R, X), carries(R), to_lander(R, X, R, Y).
0.8::navigate(R, X, Y) :- at(R, X), to_sample(R, X, R, Y).
0.7::navigate(R, X, Y) :- at(R, X), to_picture(R, X, R, Y).
0.6::navigate(R, X, Y) :- at(R, X), \+ ready(R), to_target(R, X, R, Y).

:- derived(way(rover, waypoint, rover, waypoint)).
way(R, X, R, Y) :- can_traverse(R, X, Y), visible(X, Y).
:- derived(sends(rover, waypoint)).
sends(R, X) :- can_traverse(R, X, Z), visible(X, Y), at_lander(L, Y).
sends(R, X) :- can_traverse(R, X, Y), visible(X, Y), at_lander(L, Y).
sends(R, X) :- at(R, X), visible(X, Y), at_lander(L, Y).
sends(R, X) :- way(R, X, R, Y), sends(R, Y).
:- derived(sight(rover, waypoint)).
sight(R, X) :- can_traverse(R, X, Z), visible(X, Y), at_lander(L, Y).
sight(R, X) :- can_traverse(R, X, Y), visible(X, Y), at_lander(L, Y).
:- distance(to_lander, way, sight).

:- derived(want_soil(waypoint)).
want_soil(P) :- goal_communicated_soil_data(P), \+ communicated_soil_data(P).
:- derived(want_rock(waypoint)).
want_rock(P) :- goal_communicated_rock_data(P), \+ communicated_rock_data(P).
:- derived(want_image(objective, mode)).
want_image(O, M) :- goal_communicated_image_data(O, M), \+ communicated_image_data(O, M).
:- derived(taken(objective, mode)).
taken(O, M) :- have_image(R, O, M).
:- derived(carries(rover)).
carries(R) :- want_soil(P), have_soil_analysis(R, P).
carries(R) :- want_rock(P), have_rock_analysis(R, P).
carries(R) :- want_image(O, M), have_image(R, O, M).

:- derived(take_soil(waypoint)).
take_soil(P) :- want_soil(P), at_soil_sample(P).
:- derived(take_rock(waypoint)).
take_rock(P) :- want_rock(P), at_rock_sample(P).
:- derived(take_picture(objective, mode)).
take_picture(O, M) :- want_image(O, M), \+ taken(O, M).
:- derived(soil_at(rover, waypoint)).
soil_at(R, P) :- take_soil(P), equipped_for_soil_analysis(R), sends(R, P).
:- derived(rock_at(rover, waypoint)).
rock_at(R, P) :- take_rock(P), equipped_for_rock_analysis(R), sends(R, P).
:- derived(sample_at(rover, waypoint)).
sample_at(R, P) :- soil_at(R, P).
sample_at(R, P) :- rock_at(R, P).
:- distance(to_sample, way, sample_at).

% A camera is of use to a rover for a picture of what it can come to see.
:- derived(sees(rover, waypoint, objective)).
sees(R, X, O) :- sends(R, X), equipped_for_imaging(R), visible_from(O, X).
:- derived(can_see(rover, objective)).
can_see(R, O) :- at(R, X), sees(R, X, O).
can_see(R, O) :- at(R, X), sees(R, Y, O), reach(R, X, R, Y).
:- closure(reach, way).
:- derived(of_use(camera, rover)).
of_use(C, R) :- take_picture(O, M), supports(C, M), on_board(C, R), can_see(R, O).
:- derived(ready(rover)).
ready(R) :- of_use(C, R), calibrated(C, R).
:- derived(picture_at(rover, waypoint)).
picture_at(R, X) :- calibrated(C, R), supports(C, M), take_picture(O, M), sees(R, X, O).
:- distance(to_picture, way, picture_at).
:- derived(target_at(rover, waypoint)).
target_at(R, X) :- of_use(C, R), \+ calibrated(C, R), calibration_target(C, O), visible_from(O, X), sends(R, X).
:- distance(to_target, way, target_at).
