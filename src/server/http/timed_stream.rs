//! A socket with deadlines: every read or write ends in time.
//!
//! A deadline is for the whole of a head, a body or a response, not for each read: a client that
//! sends a byte a second gets no longer than one that sends nothing.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::read_buffer::ReadBuffer;
use crate::model::clock::Stopwatch;

/// Bytes of one read; every waiting connection has room for them on its stack.
const READ_BYTES: usize = 4 * 1024;
/// Maximum bytes read of a connection that is about to close, so that the client sees the reason.
const LINGER_BYTES_MAX: usize = 256 * 1024;
/// Maximum milliseconds of reading before a connection is closed.
pub(super) const LINGER_MS: i64 = 500;
/// Maximum milliseconds of reading before a connection is closed at shutdown.
pub(super) const LAST_LINGER_MS: i64 = 50;

/// The outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// More bytes, which are in the read buffer now.
    Bytes,
    /// The other side has closed its end.
    End,
    /// Nothing in time.
    Nothing,
}

/// A socket, and the clock of its deadlines.
#[derive(Debug)]
pub(super) struct TimedStream<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) watch: &'a Stopwatch,
}

impl TimedStream<'_> {
    /// Returns the milliseconds on the clock of the deadlines.
    pub(super) fn now_ms(&self) -> i64 {
        self.watch.elapsed_ms()
    }

    /// Waits for bytes until `deadline_ms`.
    pub(super) fn read(&self, read_buffer: &mut ReadBuffer, deadline_ms: i64) -> ReadOutcome {
        let mut bytes = [0; READ_BYTES];
        loop {
            let Some(left) = self.left(deadline_ms) else { return ReadOutcome::Nothing };
            if self.stream.set_read_timeout(Some(left)).is_err() {
                return ReadOutcome::End;
            }
            let mut stream = self.stream;
            match stream.read(&mut bytes) {
                Ok(0) => return ReadOutcome::End,
                Ok(n) => {
                    read_buffer.push(&bytes[..n]);
                    return ReadOutcome::Bytes;
                }
                Err(error) if is_patient(&error) => (),
                Err(_) => return ReadOutcome::End,
            }
        }
    }

    /// Returns whether the other side has gone, as far as is known at once. Bytes that it sent go
    /// to the read buffer, up to `bytes_max`.
    pub(super) fn is_gone(&self, read_buffer: &mut ReadBuffer, bytes_max: usize) -> bool {
        read_buffer.len() < bytes_max
            && self.read(read_buffer, self.now_ms() + 1) == ReadOutcome::End
    }

    /// Writes all bytes until `deadline_ms`.
    pub(super) fn write(&self, mut bytes: &[u8], deadline_ms: i64) -> io::Result<()> {
        let mut stream = self.stream;
        while !bytes.is_empty() {
            let left = self.left(deadline_ms).ok_or(ErrorKind::TimedOut)?;
            self.stream.set_write_timeout(Some(left))?;
            match stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(error) if is_patient(&error) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Closes so that the other side can read the last bytes written, even while it sends.
    pub(super) fn close(&self, linger_ms: i64) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let deadline_ms = self.now_ms() + linger_ms;
        let mut n_read = 0;
        while n_read < LINGER_BYTES_MAX {
            let mut rest = ReadBuffer::default();
            if self.read(&mut rest, deadline_ms) != ReadOutcome::Bytes {
                break;
            }
            n_read += rest.len();
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn left(&self, deadline_ms: i64) -> Option<Duration> {
        let left_ms = u64::try_from(deadline_ms.saturating_sub(self.now_ms())).ok()?;
        (0 < left_ms).then(|| Duration::from_millis(left_ms))
    }
}

/// Returns whether to try again: the deadline decides how often.
fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
