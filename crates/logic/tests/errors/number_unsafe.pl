left :- \+ queue(P) > 3.
