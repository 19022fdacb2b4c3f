% Blocks World: put one block on another.
:- environment(blocks).

:- action(move(block, place)).            % put a block on a place
:- state(top(block)).                     % nothing is on the block
:- state(on(block, place)).
:- background(goal_on(block, block)).     % what is asked for
:- background(isFloor(place)).
:- subtype(block, place).                 % a block is a place

:- variables(3).

% Clause templates of the NLRL baseline, after the rules that the paper reports for it.
:- nlrl(invent(pred(block, place))).
:- nlrl(invent(pred2(block))).
:- nlrl(slot(move/2, 0, invented)).
:- nlrl(slot(move/2, 0, given)).
:- nlrl(slot(pred/2, 0, invented)).
:- nlrl(slot(pred2/1, 2, given)).

% The paper's semantic constraints.
false :- isFloor(X), isFloor(Y).
false :- on(X, Y), on(Y, X).
false :- on(X, Y), on(X, Z).
false :- top(X), on(Y, X).
false :- top(X), isFloor(X).
false :- goal_on(X, Y), goal_on(Y, X).
