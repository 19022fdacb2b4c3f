% blocks.pl: an alphabet L = (P_tar, P_ext, arity, C, V) with its language bias
:- environment(blocks).                   % the built-in dynamics that this alphabet describes
:- action(move(block, place)).            % P_tar, typed
:- state(top(block)).                     % changes during an episode
:- state(on(block, place)).
:- background(goal_on(block, block)).     % fixed during an episode
:- background(isFloor(place)).
:- subtype(block, place).                 % a block is a place
:- variables(3).                          % |V|: X, Y, Z
:- rules(move/2, 2).                      % at most this many rules for an action

false :- on(X, Y), on(Y, X).              % semantic constraints S_c
false :- top(X), on(Y, X).
