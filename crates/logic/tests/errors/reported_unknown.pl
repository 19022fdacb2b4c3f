speed = 7.
