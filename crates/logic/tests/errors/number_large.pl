left :- angle > 1e999.
