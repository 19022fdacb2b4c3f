queue(p1) = many.
