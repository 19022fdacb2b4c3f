% Take every spanner, tighten every nut, and only then go on.
0.99::pickup_spanner(L, S, M) :- at(S, L).
0.98::tighten_nut(L, S, M, N) :- loose(N).
0.97::walk(K, L, M) :- link(K, L).
