queue(p1) = 7.
