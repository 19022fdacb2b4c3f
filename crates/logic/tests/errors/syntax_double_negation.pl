up :- \+ \+ north.
