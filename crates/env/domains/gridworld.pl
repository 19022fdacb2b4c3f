% Gridworld: walk to a target around obstacles.
:- environment(gridworld).

:- action(up).                            % y + 1
:- action(down).                          % y - 1
:- action(left).                          % x - 1
:- action(right).                         % x + 1
:- state(curr(x, y)).                     % where the agent is
:- state(north).                          % the target lies in that half-plane ...
:- state(south).
:- state(east).
:- state(west).
:- state(northeast).                      % ... or quadrant, seen from the agent
:- state(northwest).
:- state(southeast).
:- state(southwest).
:- background(target(x, y)).
:- background(obs(x, y)).
:- background(succ(coordinate, coordinate)).   % the second is one more than the first
:- subtype(x, coordinate).
:- subtype(y, coordinate).
:- negation(obs/2).                       % "no obstacle there" may stand in a rule; found without this, in more steps

:- variables(3).

% Clause templates of the NLRL baseline: a rule towards the target and one around obstacles, which may look at one
% invented property of a cell (such as an obstacle to its right).
:- nlrl(invent(pred(x, y))).
:- nlrl(invent(pred2(x, y))).
:- nlrl(slot(up/0, 2, given)).
:- nlrl(slot(up/0, 2, invented)).
:- nlrl(slot(down/0, 2, given)).
:- nlrl(slot(down/0, 2, invented)).
:- nlrl(slot(left/0, 2, given)).
:- nlrl(slot(left/0, 2, invented)).
:- nlrl(slot(right/0, 2, given)).
:- nlrl(slot(right/0, 2, invented)).
:- nlrl(slot(pred/2, 1, given)).
:- nlrl(slot(pred2/2, 1, given)).

% The paper's semantic constraints. Its `false :- curr(X, Y), curr(Y, X)` says that the agent is in one place; typed
% coordinates rule out that very pair, and say the same so:
false :- curr(X, Y), curr(X, Z).
false :- curr(X, Y), curr(Z, Y).
false :- succ(X, Y), succ(Y, X).
% The target is in one place too, and on one side.
false :- target(X, Y), target(X, Z).
false :- target(X, Y), target(Z, Y).
false :- north, south.
false :- east, west.
