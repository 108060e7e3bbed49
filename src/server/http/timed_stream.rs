//! A socket with deadlines: whatever the other side does, a read or a write is over in time.
//!
//! A deadline is for the whole of a head, a body or a response, not for each read: who sends a byte
//! a second gets no longer than who sends none.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::read_buffer::ReadBuffer;
use crate::model::clock::Stopwatch;

/// Bytes that are read at once; every connection that waits has room for them on its stack.
const READ_BYTES: usize = 4 * 1024;
/// How much more is read of a connection that is about to be closed, so that the client sees why.
const LINGER_BYTES_MAX: usize = 256 * 1024;
/// How long that may take.
pub(super) const LINGER_MS: i64 = 500;
/// The same when the server ends.
pub(super) const LAST_LINGER_MS: i64 = 50;

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// More bytes, which are in the inbox now.
    Bytes,
    /// The other side has nothing more to say.
    End,
    /// Nothing in time.
    Nothing,
}

/// A socket, and the clock that its deadlines are read from.
#[derive(Debug)]
pub(super) struct TimedStream<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) watch: &'a Stopwatch,
}

impl TimedStream<'_> {
    /// Milliseconds on the clock of the deadlines.
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

    /// Whether the other side has gone, as far as can be seen at once. What it sent goes to the
    /// inbox, up to `bytes_max`.
    pub(super) fn is_gone(&self, read_buffer: &mut ReadBuffer, bytes_max: usize) -> bool {
        read_buffer.len() < bytes_max
            && self.read(read_buffer, self.now_ms() + 1) == ReadOutcome::End
    }

    /// Writes all of it until `deadline_ms`.
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

    /// Closes in a way that lets the other side read what was written last, even while it sends.
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

/// Whether the same may be tried again: the deadline decides how often.
fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
