queue(P) = 7.
