:- object(a, block).
top(zebra).
