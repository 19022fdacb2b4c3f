on(a, B).
