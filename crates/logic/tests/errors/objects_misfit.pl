:- object(a, place).
top(a).
