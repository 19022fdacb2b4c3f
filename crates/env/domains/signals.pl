% Signals: real traffic lights in SUMO. A light keeps its green phase or switches to another; the world keeps yellow, minimum
% green and clearance. Vehicles belong to the light that they come to next, within 200 m. Those that have to give way in a
% phase count half if another phase protects them.
:- environment(signals).

:- action(keep).                          % the current phase stays green
:- action(switch(phase)).                 % to another green phase of the light's program
:- state(current(phase)).                 % has green
:- background(leads(phase, light)).       % the phase sends vehicles to that neighbour

:- number(queue(phase), vehicle).         % stand, and would go in this phase
:- number(near(phase), vehicle).          % are within 60 m
:- number(arriving(phase), vehicle).      % reach the stop line within 3 s
:- number(inside(phase), vehicle).        % stand inside the junction
:- number(flow(phase), per_second).       % best mean rate at which vehicles would cross from now on
:- number(blocked(phase), share).         % of the vehicles, have a full road ahead
:- number(max_wait(phase), second).       % that anybody has stood
:- number(red_for(phase), second).        % since it last had green; 0 for the current phase
:- number(green_for, second).             % that the current phase has had green
:- number(standing(light), vehicle).      % stand before a neighbour

:- variables(3).
