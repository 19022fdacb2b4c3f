left :- angle <= 3.
