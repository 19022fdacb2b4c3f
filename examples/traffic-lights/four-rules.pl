% Four rules that operate real traffic lights: derrl eval examples/traffic-lights/four-rules.pl --domain signals --sumocfg cologne1
% C is the phase that has green. Earlier rules go first.

% Nobody waits for more than two minutes. (Here and below, flow decides between phases that are alike.)
0.95::switch(P) :- max_wait(P) > 120, most(max_wait(P)), most(flow(P)).
% A group that arrives is let through, for half a minute at the most.
0.90::keep :- current(C), arriving(C) >= 2, green_for < 30.
% Green for the phase with most vehicles near, if these are clearly more than here.
0.85::switch(P) :- current(C), near(P) > 1.2*near(C) + 0.5, most(near(P)), most(flow(P)).
% Green for the phase that would let most vehicles cross, if these are clearly more than here.
0.80::switch(P) :- current(C), flow(P) > 1.2*flow(C), most(flow(P)).
% Else all stays as it is.
0.50::keep :- current(C).
