:- object(a, brick).
top(a).
