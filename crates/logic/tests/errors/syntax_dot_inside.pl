up :- north.down :- south.
