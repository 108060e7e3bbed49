//! The body of a request, with a length or in chunks.
//!
//! A size is one to eight hexadecimal digits; extensions and trailers are skipped, within bounds.
//! Every line ends with CR LF, and nothing else does. Pure.

use super::request_head::BodyFraming;
use super::response::{BODY_BYTES_MAX, HttpError};

/// Maximum bytes of the line before a chunk.
const SIZE_BYTES_MAX: usize = 128;
/// Maximum bytes of all trailers.
const TRAILER_BYTES_MAX: usize = 4 * 1024;

/// A body while it is read.
#[derive(Debug)]
pub(crate) struct BodyDecoder {
    pub(crate) bytes: Vec<u8>,
    state: BodyState,
    /// The present line, of a size or a trailer.
    line: Vec<u8>,
    n_trailer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    Length(usize),
    Size,
    Chunk(usize),
    /// The line break behind a chunk.
    Break,
    Trailer,
    Whole,
}

impl BodyDecoder {
    /// Returns an empty body with this framing.
    pub(crate) fn new(framing: BodyFraming) -> BodyDecoder {
        let state = match framing {
            BodyFraming::Empty => BodyState::Whole,
            BodyFraming::Length(n) => BodyState::Length(n),
            BodyFraming::Chunked => BodyState::Size,
        };
        BodyDecoder { bytes: Vec::new(), state, line: Vec::new(), n_trailer: 0 }
    }

    /// Takes the body's bytes from the front of `input`. Returns how many, and whether the body is
    /// complete.
    pub(crate) fn take(&mut self, input: &[u8]) -> Result<(usize, bool), HttpError> {
        let mut n_used = 0;
        while self.state != BodyState::Whole && n_used < input.len() {
            n_used += self.step(&input[n_used..])?;
        }
        Ok((n_used, self.state == BodyState::Whole))
    }

    fn step(&mut self, input: &[u8]) -> Result<usize, HttpError> {
        match self.state {
            BodyState::Length(left) => {
                let n = left.min(input.len());
                self.bytes.extend_from_slice(&input[..n]);
                self.state = if n == left { BodyState::Whole } else { BodyState::Length(left - n) };
                Ok(n)
            }
            BodyState::Chunk(left) => {
                let n = left.min(input.len());
                self.bytes.extend_from_slice(&input[..n]);
                self.state = if n == left { BodyState::Break } else { BodyState::Chunk(left - n) };
                Ok(n)
            }
            BodyState::Size | BodyState::Break | BodyState::Trailer => {
                let Some(&byte) = input.first() else { return Ok(0) };
                if let Some(line) = self.line(byte)? {
                    self.line_ended(&line)?;
                }
                Ok(1)
            }
            BodyState::Whole => Ok(0),
        }
    }

    /// Adds a byte to the line; returns the line when this ends it.
    fn line(&mut self, byte: u8) -> Result<Option<Vec<u8>>, HttpError> {
        let after_return = self.line.last() == Some(&b'\r');
        if (byte == b'\n') != after_return {
            return Err(bad());
        }
        if after_return {
            self.line.pop();
            return Ok(Some(std::mem::take(&mut self.line)));
        }
        if byte != b'\r' && byte != b'\t' && (byte < b' ' || byte == 0x7f) {
            return Err(bad());
        }
        let max = match self.state {
            BodyState::Size => SIZE_BYTES_MAX,
            // Nothing but the line break.
            BodyState::Break => 1,
            _ => TRAILER_BYTES_MAX,
        };
        self.n_trailer += usize::from(self.state == BodyState::Trailer);
        self.line.push(byte);
        if max < self.line.len() || TRAILER_BYTES_MAX < self.n_trailer {
            return Err(bad());
        }
        Ok(None)
    }

    fn line_ended(&mut self, line: &[u8]) -> Result<(), HttpError> {
        self.state = match self.state {
            BodyState::Size => match self.size(line)? {
                0 => BodyState::Trailer,
                size => BodyState::Chunk(size),
            },
            BodyState::Break if line.is_empty() => BodyState::Size,
            BodyState::Trailer if line.is_empty() => BodyState::Whole,
            BodyState::Trailer if line.contains(&b':') && !line.starts_with(b" ") => {
                BodyState::Trailer
            }
            _ => return Err(bad()),
        };
        Ok(())
    }

    fn size(&self, line: &[u8]) -> Result<usize, HttpError> {
        let n = line.iter().take_while(|it| it.is_ascii_hexdigit()).count();
        let extension = line[n..].trim_ascii_start();
        if n == 0 || 8 < n || !(extension.is_empty() || extension.starts_with(b";")) {
            return Err(bad());
        }
        let digits = std::str::from_utf8(&line[..n]).map_err(|_| bad())?;
        let size = usize::from_str_radix(digits, 16).map_err(|_| bad())?;
        if BODY_BYTES_MAX < self.bytes.len().saturating_add(size) {
            return Err(HttpError::too_large());
        }
        Ok(size)
    }
}

fn bad() -> HttpError {
    HttpError::new(400, "the body's chunks are none")
}
