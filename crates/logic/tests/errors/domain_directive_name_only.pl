:- move/2.
