0.5::queue(p1) = 7.
