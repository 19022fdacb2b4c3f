:- object(a, block).
:- object(b, block).
:- object(floor, place).
on(a, b). on(b, flor).
