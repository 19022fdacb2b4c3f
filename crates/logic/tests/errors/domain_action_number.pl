:- action(3).
