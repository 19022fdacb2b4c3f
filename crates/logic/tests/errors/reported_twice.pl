queue(p1) = 7. queue(p1) = 8.
