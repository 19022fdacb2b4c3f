mvoe(b, floor)
