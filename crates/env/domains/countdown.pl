% The Countdown Game: bring the accumulated number to the goal with the numbers of a stack.
:- environment(countdown).

:- action(add).                           % acc becomes acc + the top of the stack
:- action(sub).                           % acc becomes acc - the top of the stack
:- action(null).                          % the top is dropped
:- state(curr(number)).                   % the top of the stack
:- state(next(number, number)).           % the top and the number below it
:- state(last(number)).                   % the bottom of the stack
:- state(acc(number)).
:- background(goal(number)).
:- background(less(number, number)).

:- variables(3).

% Clause templates of the NLRL baseline: each action may look at one invented property of a number.
:- nlrl(invent(pred(number))).
:- nlrl(invent(pred2(number))).
:- nlrl(slot(add/0, 1, invented)).
:- nlrl(slot(sub/0, 1, invented)).
:- nlrl(slot(null/0, 1, invented)).
:- nlrl(slot(pred/1, 1, given)).
:- nlrl(slot(pred2/1, 1, given)).

% The paper's semantic constraints.
false :- goal(X), goal(Y).
false :- less(X, Y), less(Y, X).
less(X, Z) :- less(X, Y), less(Y, Z).
false :- acc(X), acc(Y).
false :- curr(X), curr(Y).
