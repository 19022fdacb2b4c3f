add :- acc(0.5).
