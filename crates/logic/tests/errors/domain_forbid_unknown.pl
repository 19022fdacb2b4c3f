:- action(up).
:- state(north).
:- forbid(up/0, nort/0).
