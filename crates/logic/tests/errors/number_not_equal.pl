left :- angle =:= 3.
