//! Servers for tests that break the protocol, or say nothing.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use super::space_url::SpaceUrl;
use crate::server::spawn;

/// `AuthenticationOk`.
pub(super) const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0";
/// `ReadyForQuery`.
pub(super) const READY: &[u8] = b"Z\0\0\0\x05I";
/// `CommandComplete`.
pub(super) const COMPLETE: &[u8] = b"C\0\0\0\x07OK\0";
/// `AuthenticationSASL` with SCRAM-SHA-256 alone.
pub(super) const ASK_SCRAM: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
/// `AuthenticationCleartextPassword`.
pub(super) const ASK_CLEAR: &[u8] = b"R\0\0\0\x08\0\0\0\x03";

/// Starts a server that treats its first connection as told, and returns its address.
pub(super) fn serve_once(
    serve: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (SpaceUrl, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let work = move || {
        let (mut stream, _) = listener.accept().unwrap();
        serve(&mut stream);
    };
    let url = SpaceUrl::parse(&format!("postgres://me@127.0.0.1:{port}/db/space")).unwrap();
    (url, spawn("fake", work).unwrap())
}

/// Starts a server that lets everyone in, and gives the same answer to every pipeline.
pub(super) fn serve_always(answer: Vec<u8>) -> SpaceUrl {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let work = move || {
        for mut stream in listener.incoming().flatten() {
            let answer = answer.clone();
            let _ = spawn("fake", move || {
                read_some(&mut stream);
                let _ = stream.write_all(&[WELCOME, READY].concat());
                while read_some(&mut stream).ends_with(b"S\0\0\0\x04")
                    && stream.write_all(&answer).is_ok()
                {}
            });
        }
    };
    drop(spawn("fake", work).unwrap());
    SpaceUrl::parse(&format!("postgres://me@127.0.0.1:{port}/db/space")).unwrap()
}

/// Reads what is there; nothing when the client has gone.
pub(super) fn read_some(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 64 * 1024];
    let n_bytes = stream.read(&mut bytes).unwrap_or(0);
    bytes.truncate(n_bytes);
    bytes
}

/// Sends a byte every few milliseconds until the client has gone.
pub(super) fn drip(stream: &mut TcpStream, begin: &[u8]) {
    let _ = stream.write_all(begin);
    while stream.write_all(b"\0").is_ok() {
        let _ = crossbeam_channel::never::<()>().recv_timeout(Duration::from_millis(5));
    }
}
