# a comment
up :- north.
