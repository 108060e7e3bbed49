//! Tests of what a server may say: in any pieces, too little, too much and out of place.

use super::scripted::{scripted, talk_to_scripted};
use super::*;

/// Returns a message of a kind.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(4 + body.len()).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

fn signed_in() -> Vec<u8> {
    [message(b'R', &[0, 0, 0, 0]), ready()].concat()
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// Returns the answer to a statement: rows of one value each, and its end.
fn answer(values: &[&[u8]]) -> Vec<u8> {
    let row = |value: &&[u8]| {
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        message(b'D', &[&[0, 1], &length[..], value].concat())
    };
    values.iter().flat_map(row).chain(message(b'C', b"SELECT\0")).collect()
}

fn talk(parts: &[Vec<u8>]) -> Vec<String> {
    let whole = parts.concat();
    let outcomes = talk_to_scripted([whole.as_slice()]);
    assert_eq!(outcomes, talk_to_scripted(whole.chunks(1)), "byte by byte");
    outcomes
}

#[test]
fn an_answer_is_the_same_in_any_pieces() {
    let news = message(b'A', b"\0\0\0\x07remindb\0team\0");
    let both = [answer(&[b"x"]), answer(&[]), ready()].concat();
    let outcomes = talk(&[signed_in(), answer(&[b"a", b"b"]), ready(), both, news]);
    let rows = ["[[[Some([97])], [Some([98])]]]", "[[[Some([120])]], []]"];
    assert_eq!(outcomes, ["signed in", rows[0], rows[1], "news: true"]);
}

#[test]
fn an_answer_to_fewer_or_more_statements_is_out_of_place() {
    for answers in [vec![ready()], vec![answer(&[]), answer(&[]), ready()]] {
        let outcomes = talk(&[signed_in(), answers.concat()]);
        assert_eq!(outcomes, ["signed in", "a message out of place"]);
    }
}

#[test]
fn memory_is_taken_for_what_came_and_not_for_what_is_announced() {
    for (length, why) in [
        (0x3fff_ffff_u32, "the connection was lost"),
        (0x7fff_ffff, "an answer of 2147483648 bytes, more than 1073741824"),
        (0x8000_0000, "invalid message length: header length < 4"),
    ] {
        let claim = [b"D", &length.to_be_bytes()[..]].concat();
        let mut wire = scripted([signed_in().as_slice(), &claim]);
        let url = SpaceUrl::parse("postgres://ana@localhost/memory/team").unwrap();
        wire.sign_in(&url, &SecretPassword::of(String::new())).unwrap();
        let error = wire.run(&[("SELECT 1", Vec::new())], 1_000).unwrap_err();
        assert_eq!(error.why(), why);
        assert!(wire.incoming.capacity() <= 2 * READ_BYTES, "{}", wire.incoming.capacity());
    }
}
