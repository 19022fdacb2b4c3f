use proptest::prelude::*;

use super::*;

/// What a well-behaved server says to `batch`: an answer assembled by hand from the protocol's description.
fn status(id: u8) -> Vec<u8> {
    vec![7, id, 0, 0, 0, 0, 0]
}

#[test]
fn a_get_is_the_bytes_of_the_protocol_page() {
    let mut batch = Batch::new();
    batch.get(Domain::Lane, Variable::HALTING, "a_0");
    let expected = [0, 0, 0, 14, 10, 0xa3, 0x14, 0, 0, 0, 3, b'a', b'_', b'0'];
    assert_eq!(batch.message(), expected);
}

#[test]
fn a_command_past_255_bytes_uses_the_long_form() {
    let name = "x".repeat(300);
    let mut batch = Batch::new();
    batch.get(Domain::Edge, Variable::VEHICLES, &name);
    let message = batch.message();
    // 4 message length, 1 zero, 4 length, 1 id, 1 variable, 4 string length, 300 text.
    assert_eq!(message.len(), 315);
    assert_eq!(message[..10], [0, 0, 1, 59, 0, 0, 0, 1, 55, 0xaa]);
}

#[test]
fn a_batch_is_answered_in_order() {
    let mut batch = Batch::new();
    batch
        .set(Domain::TrafficLight, Variable::SIGNALS, "i0", &Value::String("Gr".into()))
        .get(Domain::Lane, Variable::HALTING, "a_0")
        .step(2.0);
    let mut body = status(0xc2);
    body.extend(status(0xa3));
    body.extend([15, 0xb3, 0x14, 0, 0, 0, 3, b'a', b'_', b'0', 0x09, 0, 0, 0, 7]);
    body.extend(status(0x02));
    body.extend([0, 0, 0, 1]);
    body.extend([0, 0, 0, 0, 21, 0xe3, 0, 0, 0, 3, b'a', b'_', b'0', 1, 0x14, 0, 0x09, 0, 0, 0, 8]);
    let update = Update {
        domain: Domain::Lane,
        object: "a_0".into(),
        values: vec![(Variable::HALTING, Value::Int(8))],
    };
    assert_eq!(
        batch.answers(&body),
        Ok(vec![Answer::Done, Answer::Got(Value::Int(7)), Answer::Stepped(vec![update])])
    );
}

#[test]
fn a_refusal_is_told_in_the_servers_words() {
    let mut batch = Batch::new();
    batch.get(Domain::Lane, Variable::HALTING, "b");
    let mut body = vec![9, 0xa3, 0xff, 0, 0, 0, 2];
    body.extend(b"no");
    assert_eq!(batch.answers(&body), Err(Malformed::Refused("no".into())));
}

#[test]
fn an_answer_to_another_question_is_garbled() {
    let mut batch = Batch::new();
    batch.step(0.0);
    assert!(matches!(batch.answers(&status(0xa3)), Err(Malformed::Garbled(_))));
    let mut body = status(0x02);
    body.extend([0, 0, 0, 0, 99]);
    assert_eq!(batch.answers(&body), Err(Malformed::Garbled("1 bytes too many".into())));
}

#[test]
fn a_lying_length_is_refused_before_memory_is_taken() {
    let mut batch = Batch::new();
    batch.get(Domain::Lane, Variable::IDS, "");
    let mut body = status(0xa3);
    body.extend([0, 0, 0, 0, 0, 0xb3, 0x00, 0, 0, 0, 0, 0x0e, 0x7f, 0xff, 0xff, 0xff]);
    let Err(Malformed::Garbled(why)) = batch.answers(&body) else { panic!("accepted") };
    assert_eq!(why, "a length of 2147483647 with 0 bytes left");
}

#[test]
fn nesting_is_bounded() {
    let mut batch = Batch::new();
    batch.get(Domain::TrafficLight, Variable(0x2b), "");
    let mut body = status(0xa2);
    body.extend([0, 0, 0, 0, 0, 0xb2, 0x2b, 0, 0, 0, 0]);
    for _ in 0..100_000 {
        body.extend([0x0f, 0, 0, 0, 1]);
    }
    assert!(matches!(batch.answers(&body), Err(Malformed::Garbled(_))));
}

fn values() -> impl Strategy<Value = Value> {
    let number = -1e12..1e12;
    let leaf = prop_oneof![
        any::<u8>().prop_map(Value::UByte),
        any::<i8>().prop_map(Value::Byte),
        any::<i32>().prop_map(Value::Int),
        number.clone().prop_map(Value::Double),
        ".{0,20}".prop_map(Value::String),
        prop::collection::vec(".{0,8}", 0..5).prop_map(Value::Strings),
        prop::collection::vec(number.clone(), 0..5).prop_map(Value::Doubles),
        (number.clone(), number).prop_map(|(x, y)| Value::Position(x, y)),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::Compound))
}

/// One of each kind of command, so that any answer meets every decoder.
fn everything() -> Vec<Batch> {
    let mut batches = vec![Batch::new(); 5];
    batches[0].version();
    batches[1].get(Domain::Lane, Variable::HALTING, "a");
    batches[2].subscribe(Domain::Lane, &[Variable::HALTING], "a");
    batches[3].step(1.0);
    batches[4].set(Domain::TrafficLight, Variable::SET_PHASE, "a", &Value::Int(1)).close();
    batches
}

proptest! {
    #[test]
    fn values_round_trip(value in values()) {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        let mut reader = Reader::new(&bytes);
        prop_assert_eq!(reader.value(0), Ok(value));
        prop_assert!(reader.rest.is_empty());
    }

    #[test]
    fn decoding_noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        for batch in everything() {
            // A valid status lets the noise through to the decoder behind it.
            let mut body = status(batch.expected[0].0);
            body.extend(&noise);
            let _ = batch.answers(&noise);
            let _ = batch.answers(&body);
        }
    }

    #[test]
    fn decoding_a_damaged_answer_never_panics(at in 0usize..64, byte: u8, keep in 0usize..64) {
        let mut batch = Batch::new();
        batch.step(1.0);
        let mut body = status(0x02);
        body.extend([0, 0, 0, 2]);
        for _ in 0..2 {
            body.extend([0, 0, 0, 0, 21, 0xe3, 0, 0, 0, 3, b'a', b'_', b'0', 1, 0x14, 0, 0x09, 0, 0, 0, 8]);
        }
        if let Some(b) = body.get_mut(at) {
            *b = byte;
        }
        body.truncate(keep);
        let _ = batch.answers(&body);
    }
}
