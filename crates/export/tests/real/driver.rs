// Decides in many states with exported modules. CASE.states holds the states of a case.

fn object<T>(text: &str, int: fn(i64) -> T, name: fn(&str) -> T) -> T {
    match text.strip_prefix("i:") {
        Some(number) => int(number.parse().expect("an integer")),
        None => name(&text[2..]),
    }
}

macro_rules! decide {
    ($policy:ident, $case:expr) => {
        println!("case {}", $case);
        let text = std::fs::read_to_string(format!("{}.states", $case)).expect("the states are there");
        let (mut facts, mut objects) = (Vec::new(), Vec::new());
        let read = |text: &str| object(text, $policy::int, $policy::name);
        for line in text.split('\n') {
            let fields: Vec<&str> = line.split('\x1f').collect();
            match fields[0] {
                "fact" => facts.push((fields[1], fields[2..].iter().map(|f| read(f)).collect::<Vec<_>>())),
                "object" => objects.push((read(fields[1]), fields[2])),
                "end" => {
                    let (value, actions) = $policy::best_actions(&facts, &objects);
                    let show = |o: &$policy::Object| match o {
                        $policy::Object::Int(i) => format!("\x1fi:{i}"),
                        $policy::Object::Name(n) => format!("\x1fn:{n}"),
                    };
                    let show = |(name, args): &$policy::Action| {
                        format!("{name}{}", args.iter().map(show).collect::<String>())
                    };
                    let shown: Vec<String> = actions.iter().map(show).collect();
                    println!("{value:?}\t{}", shown.join("\x1e"));
                    facts.clear();
                    objects.clear();
                }
                _ => {}
            }
        }
    };
}
