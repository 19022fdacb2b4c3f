queue(p1).
