add :- acc(3 < 4).
