:- action(up).
:- number(q(a)).
:- state(p(a)).
false :- p(X), most(q(X)).
