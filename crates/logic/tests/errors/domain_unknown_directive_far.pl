:- action(up).
:- dynamic(on/2).
