0::move(X, Y) :- top(X).
