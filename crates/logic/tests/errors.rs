//! Every error a text can cause, as its reader sees it.
//!
//! Each file in `tests/errors` is a text with a mistake; its `.snap` beside it is the message. What the
//! text is read as is the first word of the file's name. To add a case, add a file and review its snapshot.

use std::path::Path;

use derrl_logic::{Alphabet, Error, Policy, Source, parse_facts, parse_ground_action, parse_state, parser};

/// A domain with two types that have nothing in common.
const ROOMS: &str =
    ":- action(open(door)). :- state(at(room)). :- state(carrying(key)). :- state(in(key, room)).
    :- background(room(room)). :- background(door(door)). :- background(key(key)).";

/// A domain with numbers.
const NUMBERS: &str = ":- action(green(phase)). :- action(left). :- state(current(phase)). :- number(angle).
    :- number(queue(phase), cars). :- number(wait(phase), second). :- number(x(thing), metre). :- constant(p1).";

#[test]
fn every_mistake_has_a_clear_message() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |path: &Path| std::fs::read(path).expect("a test file is readable");
    let blocks = String::from_utf8(read(&here.join("blocks.pl"))).expect("the domain is text");
    let blocks = Alphabet::parse(&Source::new("blocks.pl", blocks)).expect("the domain is well-formed");
    let rooms = Alphabet::parse(&Source::new("rooms.pl", ROOMS)).expect("the domain is well-formed");

    let mut files: Vec<_> = std::fs::read_dir(here.join("errors"))
        .expect("the folder is readable")
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "pl"))
        .collect();
    files.sort();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("errors");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in files {
        let name = path.file_stem().and_then(|n| n.to_str()).expect("a test file has a plain name");
        let kind = name.split('_').next().unwrap_or_default();
        let message = match message(kind, name, read(&path), &blocks, &rooms) {
            Ok(message) => message,
            Err(error) => error.to_string(),
        };
        settings.bind(|| insta::assert_snapshot!(name, message));
    }
}

fn numbers() -> Alphabet {
    Alphabet::parse(&Source::new("numbers.pl", NUMBERS)).expect("the domain is well-formed")
}

/// The error of a text, or the warnings where those are asked for.
fn message(
    kind: &str,
    name: &str,
    bytes: Vec<u8>,
    blocks: &Alphabet,
    rooms: &Alphabet,
) -> Result<String, Error> {
    let source = Source::from_bytes(format!("{name}.pl"), bytes)?;
    match kind {
        "syntax" => drop(parser::parse(&source)?),
        "domain" => drop(Alphabet::parse(&source)?),
        "policy" => drop(Policy::parse(&source, blocks)?),
        "own" => drop(Policy::read(&source, &std::sync::Arc::new(blocks.clone()))?),
        "rooms" => drop(Policy::parse(&source, rooms)?),
        "number" => drop(Policy::read(&source, &std::sync::Arc::new(numbers()))?),
        "reported" => drop(parse_state(&source, &numbers())?),
        "state" => drop(parse_facts(&source, blocks)?),
        "objects" => drop(parse_state(&source, if name.ends_with("types") { rooms } else { blocks })?),
        "action" => drop(parse_ground_action(&source.text, blocks)?),
        "warn" => {
            let (_, warnings) = Alphabet::check(&source)?;
            return Ok(warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"));
        }
        _ => panic!("{name}: a test file starts with the kind of its text"),
    }
    panic!("{name}: this text has no mistake");
}
