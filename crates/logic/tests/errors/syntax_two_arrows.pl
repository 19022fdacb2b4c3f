up :- north
down :- south.
