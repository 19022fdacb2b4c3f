left :- angel > 0.02.
