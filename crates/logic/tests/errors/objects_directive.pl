:- action(move/2).
top(a).
