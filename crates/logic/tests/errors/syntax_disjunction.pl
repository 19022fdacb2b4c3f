up :- north ; east.
