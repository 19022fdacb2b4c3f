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
:- rules(add/0, 1).
:- rules(sub/0, 1).
:- rules(null/0, 1).

% The paper's semantic constraints.
false :- goal(X), goal(Y).
false :- less(X, Y), less(Y, X).
less(X, Z) :- less(X, Y), less(Y, Z).
false :- acc(X), acc(Y).
false :- curr(X), curr(Y).
