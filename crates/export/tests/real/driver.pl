% Decides in many states with an exported program: swipl -g main -t halt CASE.pl driver.pl -- STATES
% STATES holds a term state(Facts) a state; what was decided is printed, a line a state.

main :-
    current_prolog_flag(argv, [File]),
    open(File, read, Stream, [encoding(utf8)]),
    set_stream(user_output, encoding(utf8)),
    repeat,
    read_term(Stream, Term, [module(user)]),
    (   Term == end_of_file
    ->  !, close(Stream)
    ;   Term = state(Facts),
        decide(Facts),
        fail
    ).

decide(Facts) :-
    put_all(Facts),
    (   decided(Value, Actions) -> true ; Value = 0.0, Actions = [] ),
    take_all(Facts),
    write(Value), put_char('\t'),
    write_all(Actions, ''), nl.

put_all([]).
put_all([F | Fs]) :- assertz(F), put_all(Fs).

take_all([]).
take_all([F | Fs]) :- retract(F), !, take_all(Fs).

write_all([], _).
write_all([A | As], Between) :-
    write(Between),
    A =.. [Name | Args],
    write(Name), write_args(Args),
    write_all(As, '\x1e\').

write_args([]).
write_args([A | As]) :-
    write('\x1f\'), ( integer(A) -> write('i:') ; write('n:') ), write(A),
    write_args(As).
