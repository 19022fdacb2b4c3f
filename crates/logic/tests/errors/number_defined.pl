:- derived(angle).
angle :- current(P).
left :- angle.
