:- action(move(block, place)).
:- state(top(block)).
:- state(on(block, place)).
:- background(goal_on(block, block)).
:- background(lock(key)).
:- subtype(block, place).
:- variables(3).
:- max_body(4).
:- forbid(move/2, goal_on/2).

false :- on(X, Y), on(Y, X).
false :- on(B, A), on(A, B).                        % the same, renamed
false :- top(X), on(X, Y), on(Y, X).                % implied
false :- on(X, Y), on(Y, Z), on(Z, W).              % four variables
false :- top(X), \+ on(X, Y).                       % never negated
false :- on(X, floor).                              % never mentioned
false :- goal_on(X, Y).                             % forbidden
false :- lock(X), lock(Y).                          % only one variable is free to be a key
false :- top(X), top(Y), top(Z), on(X, Y), on(X, Z). % longer than a body
false :- top(X), top(X), top(Y).                    % repeated
