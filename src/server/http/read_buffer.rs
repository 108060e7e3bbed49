//! A buffer of a connection's unused bytes. Heads and bodies come out in order, however the bytes
//! were cut on their way. Pure; fuzzed against `httparse` and against itself.

use super::request_body::BodyDecoder;
use super::request_head::{HEAD_BYTES_MAX, RequestHead};
use super::response::HttpError;

/// The unused bytes.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    /// Number of bytes that are known to hold no end of a head.
    scanned: usize,
}

impl ReadBuffer {
    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the number of unused bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the next head, once it is complete.
    pub(crate) fn head(&mut self) -> Result<Option<RequestHead>, HttpError> {
        // Skips empty lines before a head, of which one byte may have been scanned.
        if self.scanned < 2 && self.bytes.starts_with(b"\r\n") {
            let n = self.bytes.chunks(2).take_while(|it| *it == b"\r\n").count();
            self.drop_first(n * 2);
        }
        while let Some(byte) = self.bytes.get(self.scanned).copied() {
            let before = self.scanned.checked_sub(1).map_or(0, |it| self.bytes[it]);
            if (byte == b'\n') != (before == b'\r') {
                return Err(HttpError::new(400, "a line of the head does not end with CR LF"));
            }
            self.scanned += 1;
            if self.bytes[..self.scanned].ends_with(b"\r\n\r\n") {
                let head = RequestHead::parse(&self.bytes[..self.scanned]);
                self.drop_first(self.scanned);
                return head.map(Some);
            }
            if self.scanned == HEAD_BYTES_MAX {
                return Err(HttpError::new(431, "the head is too long"));
            }
        }
        Ok(None)
    }

    /// Moves bytes into the body; returns whether it is complete.
    pub(crate) fn fill(&mut self, body: &mut BodyDecoder) -> Result<bool, HttpError> {
        let (n_used, is_whole) = body.take(&self.bytes)?;
        self.drop_first(n_used);
        Ok(is_whole)
    }

    fn drop_first(&mut self, n: usize) {
        self.scanned = 0;
        if n == self.bytes.len() {
            // A connection that waits for its next request holds no memory.
            self.bytes = Vec::new();
        } else {
            self.bytes.drain(..n);
        }
    }
}
