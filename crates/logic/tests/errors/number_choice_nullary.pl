left :- angle > 0, most(angle + 0*angle).
