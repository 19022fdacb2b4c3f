\+ up :- north.
