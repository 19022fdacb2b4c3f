current(p1) = 7.
