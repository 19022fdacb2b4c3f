move(a, b).
