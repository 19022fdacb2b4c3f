up :- north.
up :- café.
