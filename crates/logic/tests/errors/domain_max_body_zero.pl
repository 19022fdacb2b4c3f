:- action(up).
:- max_body(0).
