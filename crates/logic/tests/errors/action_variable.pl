move(b, Y)
