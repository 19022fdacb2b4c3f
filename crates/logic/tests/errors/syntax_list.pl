:- state([top/1, on/2]).
