:- object(a, block).
:- object(a).
top(a).
