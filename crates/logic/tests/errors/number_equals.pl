left :- angle = 3.
