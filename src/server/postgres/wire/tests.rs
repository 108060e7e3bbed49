//! Tests a connection to servers that break the protocol.

use std::sync::Mutex;

use super::*;
use crate::model::clock::Clock;
use crate::server::postgres::fake_server::{
    ASK_CLEAR, ASK_SCRAM, COMPLETE, READY, WELCOME, drip, read_some, serve_once,
};

/// Milliseconds of a call here.
const WAIT_MS: i64 = 200;
/// Milliseconds in which a call has ended, on a busy machine, too.
const PATIENCE_MS: i64 = 5_000;

fn password() -> SecretPassword {
    SecretPassword::of("a secret".to_owned())
}

fn connect(url: &SpaceUrl) -> Result<PostgresConnection, WireError> {
    PostgresConnection::connect(url, &password(), WAIT_MS)
}

fn encrypted(url: SpaceUrl) -> SpaceUrl {
    SpaceUrl { encryption: Encryption::Verified, ..url }
}

#[track_caller]
fn assert_in_time(call: impl FnOnce() -> Result<(), WireError>) {
    let watch = Clock::System.stopwatch();
    let error = call().unwrap_err();
    assert!(matches!(error, WireError::Broken(_)), "{error:?}");
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
    assert!(matches!(&error, WireError::Untrusted(why) if why.contains("prove")), "{error:?}");
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
        assert!(matches!(error, WireError::Untrusted(_)), "{error:?}");
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
    let error = PostgresConnection::connect(&url, &SecretPassword::default(), WAIT_MS).unwrap_err();
    assert!(matches!(error, WireError::NoPassword), "{error:?}");
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
        assert!(matches!(&error, WireError::Untrusted(why) if why.contains(expected)), "{error:?}");
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
