false.
