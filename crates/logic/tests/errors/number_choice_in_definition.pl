:- derived(longest(phase)).
longest(P) :- most(queue(P)).
green(P) :- longest(P).
