% DoorKey: unlock doors with the keys of their colours and reach the goal.
:- environment(doorkey).

:- action(pick(object)).                  % walk to a key and take it, putting down what is carried
:- action(open(object)).                  % walk to a door and unlock it with the carried key
:- action(goto(object)).                  % walk to an object
:- state(carrying(key)).
:- state(notcarrying).
:- state(locked(door)).
:- state(unlocked).                       % no door is locked any more
:- background(key(object)).
:- background(door(object)).
:- background(goal(object)).
:- background(samecolor(object, object)).
:- subtype(key, object).
:- subtype(door, object).
:- subtype(goal, object).

:- variables(3).

% Clause templates of the NLRL baseline: each action may look at one invented property of its object.
:- nlrl(invent(pred(object))).
:- nlrl(invent(pred2(object))).
:- nlrl(slot(pick/1, 0, invented)).
:- nlrl(slot(open/1, 0, invented)).
:- nlrl(slot(goto/1, 0, invented)).
:- nlrl(slot(pred/1, 1, given)).
:- nlrl(slot(pred2/1, 1, given)).

% The paper's semantic constraints.
false :- carrying(X), notcarrying.
samecolor(X, Y) :- samecolor(Y, Z), samecolor(Z, X).
samecolor(X, Y) :- samecolor(Y, X).
false :- carrying(X), carrying(Y).
false :- locked(X), unlocked.
