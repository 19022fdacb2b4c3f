% Blocks World: from any stacks to any other stacks.
:- environment(rearrange).

:- action(move(block, place)).            % put a block on a place
:- state(top(block)).                     % nothing is on the block
:- state(on(block, place)).
:- background(goal_on(block, place)).     % what each block should be on
:- background(isFloor(place)).
:- subtype(block, place).                 % a block is a place

:- legal(move/2).
move(X, Y) :- top(X), top(Y).
move(X, Y) :- top(X), isFloor(Y), \+ on(X, Y).

% What NLRL may say.
:- nlrl(invent(pred(block, place))).
:- nlrl(invent(pred2(block))).
:- nlrl(slot(move/2, 0, invented)).
:- nlrl(slot(move/2, 0, given)).
:- nlrl(slot(pred/2, 0, invented)).
:- nlrl(slot(pred2/1, 2, given)).
