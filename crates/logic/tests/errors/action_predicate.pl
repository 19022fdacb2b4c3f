top(b)
