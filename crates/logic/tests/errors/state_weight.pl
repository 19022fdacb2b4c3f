0.5::top(a).
