% Keep what is free of gluten for those who need it. Make all sandwiches, put them on trays, and take each tray to where a child waits
% for something that is on it.
:- derived(hungry(child)).
hungry(C) :- waiting(C, P), \+ served(C).
0.99::serve_sandwich_no_gluten(S, C, T, P) :- hungry(C).
0.98::serve_sandwich(S, C, T, P) :- hungry(C), \+ no_gluten_sandwich(S).
0.97::make_sandwich_no_gluten(S, B, C) :- notexist(S).
0.96::make_sandwich(S, B, C) :- \+ no_gluten_bread(B), \+ no_gluten_content(C).
0.95::put_on_tray(S, T) :- at_kitchen_sandwich(S).
0.94::move_tray(T, P, Q) :- ontray(S, T), no_gluten_sandwich(S), waiting(C, Q), allergic_gluten(C), hungry(C).
0.93::move_tray(T, P, Q) :- ontray(S, T), \+ no_gluten_sandwich(S), waiting(C, Q), not_allergic_gluten(C), hungry(C).
