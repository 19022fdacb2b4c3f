carrying(k1).
in(k1, hall). door(hall).
