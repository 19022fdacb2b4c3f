:- state(top/1), state(on/2).
