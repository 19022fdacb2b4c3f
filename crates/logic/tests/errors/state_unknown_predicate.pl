top(a). on(a, b).
under(b, a).
