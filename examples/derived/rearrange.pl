% Full rearrangement of blocks, with what it means to be in place.
%   derrl train examples/derived/rearrange.pl
:- environment(rearrange).

:- action(move(block, place)).            % put a block on a place
:- state(top(block)).                     % nothing is on the block
:- state(on(block, place)).
:- background(goal_on(block, place)).     % what each block should be on
:- background(isFloor(place)).
:- subtype(block, place).                 % a block is a place

:- derived(inplace(place)).               % it is where it should be, and so is all below it
:- negation(inplace/1).
inplace(X) :- isFloor(X).
inplace(X) :- on(X, Y), goal_on(X, Y), inplace(Y).

:- legal(move/2).
move(X, Y) :- top(X), top(Y).
move(X, Y) :- top(X), isFloor(Y), \+ on(X, Y).
