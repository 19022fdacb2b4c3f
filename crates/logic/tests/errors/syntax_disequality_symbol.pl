move(X, Y) :- top(X), \=(X, Y).
