:- constant('a\qb').
