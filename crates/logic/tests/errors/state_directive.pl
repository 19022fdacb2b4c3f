:- state(top(a)).
