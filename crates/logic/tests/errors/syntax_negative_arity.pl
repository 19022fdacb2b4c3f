:- state(top/-1).
