% Decides with an exported policy in states that change: swipl -g main -t halt policy.pl driver.pl -- STEPS SECONDS
% STEPS holds a term step(Gone, Come, Ask) a state: facts that no longer hold, facts that hold from now on, and whether (1) to
% decide here. Printed, a line a decision: seconds, value, actions. Timed is the processor's time for best/2 alone. Stops after
% SECONDS of it.

main :-
    current_prolog_flag(argv, [File, Limit]),
    atom_number(Limit, Seconds),
    open(File, read, Stream, [encoding(utf8)]),
    set_stream(user_output, encoding(utf8)),
    each_step(Stream, Seconds).

each_step(Stream, Left) :-
    read_term(Stream, Step, []),
    (   Step = step(Gone, Come, Ask)
    ->  no_longer(Gone),
        from_now_on(Come),
        (   Ask =:= 1 -> decide(Seconds) ; Seconds = 0 ),
        After is Left - Seconds,
        (   After < 0 -> true ; each_step(Stream, After) )
    ;   true
    ).

no_longer([]).
no_longer([F | Fs]) :- retract(F), !, no_longer(Fs).

from_now_on([]).
from_now_on([F | Fs]) :- assertz(F), from_now_on(Fs).

decide(Seconds) :-
    statistics(cputime, Start),
    (   best(Value, Actions) -> true ; Value = 0.0, Actions = [] ),
    statistics(cputime, End),
    Seconds is End - Start,
    format("~10f\t~w\t", [Seconds, Value]),
    show(Actions, ''),
    nl.

show([], _).
show([A | As], Between) :-
    A =.. Parts,
    atomic_list_concat(Parts, '\x1f\', Text),
    write(Between), write(Text),
    show(As, '\x1e\').
