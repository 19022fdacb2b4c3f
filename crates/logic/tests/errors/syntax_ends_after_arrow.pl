false :-
