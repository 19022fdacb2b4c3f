move(b, floor) now
