% Gridworld with distances: a rule may ask whether a step brings one nearer to the target.
%   derrl train examples/derived/gridworld.pl
:- environment(gridworld).

:- action(up).                            % y + 1
:- action(down).                          % y - 1
:- action(left).                          % x - 1
:- action(right).                         % x + 1
:- state(curr(x, y)).                     % where the agent is
:- background(target(x, y)).
:- background(obs(x, y)).
:- background(succ(coordinate, coordinate)).   % the second is one more than the first
:- subtype(x, coordinate).
:- subtype(y, coordinate).

:- derived(step(x, y, x, y)).             % from cell to free cell
:- distance(nearer, step, target).        % nearer(X, Y, U, V): that step brings one nearer to the target
step(X, Y, X, Z) :- succ(Y, Z), \+ obs(X, Z).
step(X, Y, X, Z) :- succ(Z, Y), \+ obs(X, Z).
step(X, Y, Z, Y) :- succ(X, Z), \+ obs(Z, Y).
step(X, Y, Z, Y) :- succ(Z, X), \+ obs(Z, Y).

:- variables(3).
