//! No text, however broken or large, crashes or stalls a reader: it is read or it is an error that points
//! into the text.

use std::time::{Duration, Instant};

use derrl_logic::{Alphabet, Error, FileKind, Policy, Source, parse_facts, parse_ground_action, parser};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const BLOCKS: &str = include_str!("blocks.pl");
const POLICY: &str = "% learned\n0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n\
    /* by hand */ move(A, 'B') ← \\+on(_, floor), goal_on(A, -3).\n";

fn blocks() -> Alphabet {
    Alphabet::parse(&Source::new("blocks.pl", BLOCKS)).expect("the domain is well-formed")
}

/// Reads bytes as everything there is.
fn read(bytes: &[u8], blocks: &Alphabet) {
    let check = |error: &Error| {
        let shown = error.to_string();
        assert!(shown.starts_with("error: ") && shown.len() < 20_000, "{shown}");
        assert!(error.place.as_ref().is_none_or(|p| p.line >= 1 && p.column >= 1), "{shown}");
    };
    let source = match Source::from_bytes("t.pl", bytes.to_vec()) {
        Ok(source) => source,
        Err(error) => return check(&error),
    };
    let errors = [
        parser::parse(&source).err(),
        FileKind::detect(&source).err(),
        Policy::parse(&source, blocks).err(),
        parse_facts(&source, blocks).err(),
        parse_ground_action(&source.text, blocks).err(),
        match Alphabet::check(&source) {
            Ok((alphabet, warnings)) => {
                assert!(warnings.iter().all(|w| w.to_string().starts_with("warning: ")));
                assert_eq!(Alphabet::parse(&Source::new("again.pl", alphabet.to_string())), Ok(alphabet));
                None
            }
            Err(error) => Some(error),
        },
    ];
    errors.iter().flatten().for_each(check);
}

/// Texts that are nearly of the language.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "move",
        "(",
        ")",
        ",",
        ".",
        ".\n",
        " ",
        "X",
        "Y",
        "_",
        "top",
        "on",
        "isFloor",
        ":-",
        "<-",
        "←",
        "::",
        "0.5",
        "1",
        "-3",
        "\\+",
        "'",
        "''",
        "\\",
        "%",
        "\n",
        "/*",
        "*/",
        "/",
        "false",
        ":- action(",
        ":- state(",
        "variables",
        "rules",
        "p/2",
        ";",
        "é",
        "東",
        "\u{0}",
        "\t",
        "auto",
        "e9",
        "move(X, Y) :- ",
        "top(X)",
        "\u{feff}",
    ];
    vec(select(words.to_vec()), 0..30).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_string(text in ".{0,60}") {
        read(text.as_bytes(), &blocks());
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..60)) {
        read(&bytes, &blocks());
    }

    #[test]
    fn any_soup(text in soup()) {
        read(text.as_bytes(), &blocks());
    }

    #[test]
    fn mutations(domain in any::<bool>(), changes in vec((any::<Index>(), 0..3u8, any::<u8>()), 1..6)) {
        let mut bytes = if domain { BLOCKS } else { POLICY }.as_bytes().to_vec();
        for (at, kind, byte) in changes {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte & 0x7f),
                _ => drop(bytes.remove(at)),
            }
        }
        read(&bytes, &blocks());
    }
}

#[test]
fn every_truncation() {
    let blocks = blocks();
    for text in [BLOCKS, POLICY] {
        for end in 0..text.len() {
            read(&text.as_bytes()[..end], &blocks);
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let n = 100_000;
    for text in [
        format!(":- {}a{}.", "f(".repeat(n), ")".repeat(n)),
        format!(":- {}", "f(".repeat(n)),
        format!("p :- {}a{}.", "f(".repeat(n), ")".repeat(n)),
        format!("p :- {}a{}.", "\\+(".repeat(n), ")".repeat(n)),
        format!("p :- {}a.", "\\+ ".repeat(n)),
        format!("{}a{}.", "(".repeat(n), ")".repeat(n)),
        format!("p :- {}", "/*".repeat(n)),
    ] {
        let error = parser::parse(&Source::new("t.pl", text)).expect_err("the text is too deep");
        assert!(error.place.is_some(), "{error}");
    }
}

#[test]
fn a_text_that_is_too_long_is_an_error() {
    let long = Source::new("t.pl", " ".repeat(Source::MAX_BYTES + 1));
    let error = parser::parse(&long).expect_err("the text is too long");
    assert_eq!(error.message, "`t.pl` has more than 4194304 bytes; no more are read");
    let error =
        Source::from_bytes("t.pl", vec![b' '; Source::MAX_BYTES + 1]).expect_err("the text is too long");
    assert!(error.message.contains("more than 4194304 bytes"));
}

/// Reading is linear: a megabyte of any shape, well-formed or not, takes a fraction of a second. The bound
/// on them all is generous because it is there to catch quadratic reading, which takes hours.
#[test]
fn large_texts_are_read_at_once() {
    const LENGTH: usize = 1 << 20;
    let blocks = blocks();
    let start = Instant::now();
    let fill = |prefix: &str, part: &str| {
        let mut text = prefix.to_string();
        text.push_str(&part.repeat(LENGTH / part.len()));
        text
    };
    for (prefix, part) in [
        ("", "\n"),
        ("", "% "),
        ("", "a"),
        ("", "a. "),
        ("/*", "*"),
        ("'", "\\n"),
        ("'", "''"),
        ("p(", "X,"),
        ("move(X, Y) :- ", "top(X),"),
        ("move(X, Y) :- top(X)", ", top(X), on(X, Y), \\+ on(Y, X)"),
        ("", "top(a). "),
        ("", "0.5::move(X, Y) :- top(X). "),
        (":- action(up). :- state(p). false :- p", ", p"),
        (":- action(up). ", ":- constant(a). "),
    ] {
        read(fill(prefix, part).as_bytes(), &blocks);
    }
    // Many different declarations, and as many constraints that no action can use or that are nearly alike.
    let line = |i: usize| {
        let (action, predicate) = (format!("action(a{i}(t))"), format!("state(p{i}(u, v))"));
        format!(":- {action}. :- {predicate}. :- constant(c{i}). false :- p{i}(X, Y), p0(X, c{i}).\n")
    };
    let domain: String = (0..10_000).map(line).collect();
    read(domain.as_bytes(), &blocks);
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
}
