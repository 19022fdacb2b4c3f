add :- acc(- 3).
