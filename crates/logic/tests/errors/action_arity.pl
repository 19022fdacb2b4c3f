move(b)
