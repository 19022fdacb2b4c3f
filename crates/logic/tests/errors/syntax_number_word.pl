:- constant(3d).
