left :- 3 > 2.
