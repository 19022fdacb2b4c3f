% PacMan: reach the goal in a grid without meeting an enemy. What is where is seen in pixels.
:- environment(pacman).

:- action(move(direction)).
:- state(s0(cell)).                       % symbols of cells; s0 is oneself, the symbol that moves as one acts
:- state(s1(cell)).                       % the others are numbered by what entering such a cell brings, best first
:- state(s2(cell)).
:- state(s3(cell)).
:- state(leads(direction, cell)).         % the cell that lies next in that direction, seen from oneself

% Directions that bring one nearer to a symbol on a way that enters no cell of another one, for any two of them: which of them is worth
% going to, and which is to be avoided, is for rules to find out.
:- state(to_s1_past_s2(direction)).
:- state(to_s1_past_s3(direction)).
:- state(to_s2_past_s1(direction)).
:- state(to_s2_past_s3(direction)).
:- state(to_s3_past_s1(direction)).
:- state(to_s3_past_s2(direction)).

:- variables(2).

% Clause templates of the NLRL baseline.
:- nlrl(slot(move/1, 1, given)).
