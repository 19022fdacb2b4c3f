up :- north().
