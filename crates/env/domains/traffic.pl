% Traffic: give green to a lane of an intersection, so that queues stay short.
:- environment(traffic).

:- action(green(lane)).                   % all other lanes of the intersection get red
:- state(highest(lane)).                  % the incoming lane with the longest queue
:- background(between(lane, node, node)). % the lane connects the two
:- background(intersection(node)).        % the others are places where vehicles enter and leave

:- variables(3).

% Clause templates of the NLRL baseline.
:- nlrl(invent(pred(lane))).
:- nlrl(slot(green/1, 0, invented)).
:- nlrl(slot(pred/1, 2, given)).

% The paper's semantic constraints.
between(X, Y, Z) :- between(X, Z, Y).
false :- highest(X), highest(Y), highest(Z).
