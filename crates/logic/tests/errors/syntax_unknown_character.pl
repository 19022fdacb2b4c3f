up :- north, §.
