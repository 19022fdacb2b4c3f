up :- north, !.
