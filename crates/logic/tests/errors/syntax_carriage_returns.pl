up :- north.
up :- !.
