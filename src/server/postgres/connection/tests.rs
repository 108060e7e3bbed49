//! Tests a connection to servers that break the protocol.

use std::sync::Mutex;

use super::scripted::{scripted, talk_to_scripted};
use super::*;
use crate::model::clock::Clock;
use crate::server::postgres::misbehaving_servers::{
    ASK_CLEAR, ASK_SCRAM, COMPLETE, READY, WELCOME, drip, read_some, serve_once,
};

/// Milliseconds of a call here.
const WAIT_MS: i64 = 200;
/// Milliseconds in which a call has ended, on a busy machine, too.
const PATIENCE_MS: i64 = 5_000;

fn password() -> PasswordWithOrigin {
    PasswordWithOrigin::of("a secret".to_owned())
}

fn connect(url: &SpaceUrl) -> Result<PostgresConnection, PostgresError> {
    PostgresConnection::connect(url, &password(), WAIT_MS)
}

fn encrypted(url: SpaceUrl) -> SpaceUrl {
    SpaceUrl { encryption: Encryption::Verified, ..url }
}

#[track_caller]
fn assert_in_time(call: impl FnOnce() -> Result<(), PostgresError>) {
    let watch = Clock::System.stopwatch();
    let error = call().unwrap_err();
    assert!(matches!(error, PostgresError::Broken(_)), "{error:?}");
    assert!(watch.elapsed_ms() < PATIENCE_MS, "{} ms", watch.elapsed_ms());
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let (url, _server) = serve_once(|stream| while !read_some(stream).is_empty() {});
    assert_in_time(|| connect(&url).map(drop));
    let (url, _server) = serve_once(|stream| while !read_some(stream).is_empty() {});
    assert_in_time(|| connect(&encrypted(url)).map(drop));
}

/// A deadline for each read would begin anew with every byte.
#[test]
fn a_server_that_sends_byte_after_byte_is_given_up() {
    let (url, _server) = serve_once(|stream| drip(stream, b"N\0\x0f\0\0"));
    assert_in_time(|| connect(&url).map(drop));
    let (url, _server) = serve_once(|stream| {
        read_some(stream);
        drip(stream, b"S\x16\x03\x03\x40\0");
    });
    assert_in_time(|| connect(&encrypted(url)).map(drop));
    let (url, _server) = serve_once(|stream| {
        read_some(stream);
        let _ = stream.write_all(&[WELCOME, READY].concat());
        read_some(stream);
        drip(stream, b"N\0\x0f\0\0");
    });
    let mut wire = connect(&url).unwrap();
    assert_in_time(|| wire.run(&[("SELECT 1", vec![])], WAIT_MS).map(drop));
}

/// A server that does not read fills the buffers between.
#[test]
fn a_server_that_does_not_read_is_given_up() {
    let (url, _server) = serve_once(|stream| {
        read_some(stream);
        let _ = stream.write_all(&[WELCOME, READY].concat());
        let _ = crossbeam_channel::never::<()>()
            .recv_timeout(std::time::Duration::from_millis(2 * WAIT_MS.unsigned_abs()));
    });
    let mut wire = connect(&url).unwrap();
    let body = vec![0; 64 * 1024 * 1024];
    assert_in_time(|| wire.run(&[("SELECT $1", vec![Param::Bytes(&body)])], WAIT_MS).map(drop));
}

/// Room for it would be made before its bytes come.
#[test]
fn a_message_larger_than_any_is_refused_at_its_head() {
    let lengths = [
        (b"\x7f\xff\xff\xff", "larger than anything"),
        (b"\xff\xff\xff\xff", "length"),
        (b"\0\0\0\x03", "length"),
    ];
    for (length, expected) in lengths {
        let (url, _server) = serve_once(move |stream| {
            read_some(stream);
            let _ = stream.write_all(&[b"D", &length[..]].concat());
            read_some(stream);
        });
        let error = connect(&url).unwrap_err();
        assert!(error.why().contains(expected), "{error:?}");
    }
}

#[test]
fn a_server_that_skips_its_proof_is_not_trusted() {
    let (url, _server) = serve_once(|stream| {
        read_some(stream);
        let _ = stream.write_all(ASK_SCRAM);
        read_some(stream);
        let _ = stream.write_all(&[WELCOME, READY].concat());
        read_some(stream);
    });
    let error = connect(&url).unwrap_err();
    assert!(matches!(&error, PostgresError::Untrusted(why) if why.contains("prove")), "{error:?}");
}

#[test]
fn a_password_that_others_could_read_is_not_sent() {
    static SENT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    for ask in [ASK_CLEAR, b"R\0\0\0\x0c\0\0\0\x05salt"] {
        let (url, server) = serve_once(move |stream| {
            read_some(stream);
            let _ = stream.write_all(ask);
            SENT.lock().unwrap().extend(read_some(stream));
        });
        let error = connect(&url).unwrap_err();
        assert!(matches!(error, PostgresError::Untrusted(_)), "{error:?}");
        server.join().unwrap();
        assert_eq!(*SENT.lock().unwrap(), b"");
    }
}

#[test]
fn a_password_that_is_missing_is_named() {
    let (url, _server) = serve_once(|stream| {
        read_some(stream);
        let _ = stream.write_all(ASK_SCRAM);
        read_some(stream);
    });
    let error =
        PostgresConnection::connect(&url, &PasswordWithOrigin::default(), WAIT_MS).unwrap_err();
    assert!(matches!(error, PostgresError::NoPassword), "{error:?}");
}

#[test]
fn what_offers_no_tls_is_not_trusted() {
    for (answer, expected) in [(b"N", "it offers no TLS"), (b"E", "there is no PostgreSQL")] {
        let (url, _server) = serve_once(move |stream| {
            read_some(stream);
            let _ = stream.write_all(answer);
            read_some(stream);
        });
        let error = connect(&encrypted(url)).unwrap_err();
        assert!(
            matches!(&error, PostgresError::Untrusted(why) if why.contains(expected)),
            "{error:?}"
        );
    }
}

#[test]
fn messages_of_any_bytes_are_an_error_and_no_panic() {
    let bodies: [&[u8]; 6] = [b"", b"\0", b"\0\x01", b"\0\x01\0\0\0\x09", b"\xff\xff", b"\0\x02\0"];
    for body in bodies {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        let message = [b"D", &length[..], body, COMPLETE, READY].concat();
        let (url, _server) = serve_once(move |stream| {
            read_some(stream);
            let _ = stream.write_all(&[WELCOME, READY].concat());
            read_some(stream);
            let _ = stream.write_all(&message);
            read_some(stream);
        });
        let mut wire = connect(&url).unwrap();
        let _ = wire.run(&[("SELECT 1", vec![])], WAIT_MS);
    }
}

/// Returns a message of a kind.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(4 + body.len()).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// Returns the answer to a statement: rows of one value each, and its end.
fn answer(values: &[&[u8]]) -> Vec<u8> {
    let row = |value: &&[u8]| {
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        message(b'D', &[&[0, 1], &length[..], value].concat())
    };
    values.iter().flat_map(row).chain(message(b'C', b"SELECT\0")).collect()
}

/// Returns what comes of a talk to a server that says this, in one piece and byte by byte.
fn talk(parts: &[&[u8]]) -> Vec<String> {
    let whole = [WELCOME, READY, &parts.concat()].concat();
    let outcomes = talk_to_scripted([whole.as_slice()]);
    assert_eq!(outcomes, talk_to_scripted(whole.chunks(1)), "byte by byte");
    outcomes
}

#[test]
fn an_answer_is_the_same_in_any_pieces() {
    let news = message(b'A', b"\0\0\0\x07remindb\0team\0");
    let both = [answer(&[b"x"]), answer(&[])].concat();
    let outcomes = talk(&[&answer(&[b"a", b"b"]), READY, &both, READY, &news]);
    let rows = ["[[[Some([97])], [Some([98])]]]", "[[[Some([120])]], []]"];
    assert_eq!(outcomes, ["signed in", rows[0], rows[1], "news: true"]);
}

#[test]
fn an_answer_to_fewer_or_more_statements_is_out_of_place() {
    for answers in [Vec::new(), [answer(&[]), answer(&[])].concat()] {
        assert_eq!(talk(&[&answers, READY]), ["signed in", "a message out of place"]);
    }
}

/// The head of a large message may come in one piece with the message before it.
#[test]
fn no_room_is_made_for_what_is_only_announced() {
    for (length, why) in [
        (0x7fff_ffff_u32, "an answer larger than anything that was asked for"),
        (0x2000_0000, "the connection was lost"),
    ] {
        let head = [b"D", &length.to_be_bytes()[..]].concat();
        let said = [WELCOME, READY, &head].concat();
        let mut wire = scripted([said.as_slice()]);
        let url = SpaceUrl::parse("postgres://ana@localhost/memory/team").unwrap();
        wire.sign_in(&url, &password()).unwrap();
        assert_eq!(wire.run(&[("SELECT 1", Vec::new())], WAIT_MS).unwrap_err().why(), why);
        assert!(wire.incoming.capacity() <= 2 * READ_BYTES, "{}", wire.incoming.capacity());
    }
}
