:- variables(3).
