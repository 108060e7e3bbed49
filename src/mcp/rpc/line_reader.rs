//! Lines from a byte stream, in bounded memory. A line that is too long is skipped in chunks.

use std::io::{self, ErrorKind, Read};

use super::{FrameResult, LINE_BYTES_MAX, parse_frame, too_long_error};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// An iterator over the frames of a stream, one for each line that is not blank. The last line
/// needs no line feed.
pub(crate) struct FrameReader<R> {
    input: R,
    chunk: Box<[u8]>,
    /// The unread part of the chunk.
    unread: std::ops::Range<usize>,
}

/// A line without its line feed.
enum RawLine {
    Whole(Vec<u8>),
    TooLong,
}

impl<R: Read> FrameReader<R> {
    /// Returns the frames of `input`.
    pub(crate) fn new(input: R) -> FrameReader<R> {
        let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
        FrameReader { input, chunk, unread: 0..0 }
    }

    fn line(&mut self) -> io::Result<Option<RawLine>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            if self.unread.is_empty() && !self.fill()? {
                return Ok(match (is_too_long, line.is_empty()) {
                    (true, _) => Some(RawLine::TooLong),
                    (false, true) => None,
                    (false, false) => Some(RawLine::Whole(line)),
                });
            }
            let unread = &self.chunk[self.unread.clone()];
            let end = unread.iter().position(|&byte| byte == b'\n');
            let part = &unread[..end.unwrap_or(unread.len())];
            if is_too_long || LINE_BYTES_MAX < line.len() + part.len() {
                is_too_long = true;
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            self.unread.start += part.len();
            if end.is_some() {
                self.unread.start += 1;
                return Ok(Some(if is_too_long { RawLine::TooLong } else { RawLine::Whole(line) }));
            }
        }
    }

    /// Reads the next chunk; false at the end of the stream.
    fn fill(&mut self) -> io::Result<bool> {
        loop {
            match self.input.read(&mut self.chunk) {
                Ok(n_bytes) => {
                    self.unread = 0..n_bytes;
                    return Ok(0 < n_bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read> Iterator for FrameReader<R> {
    type Item = io::Result<FrameResult>;

    fn next(&mut self) -> Option<io::Result<FrameResult>> {
        loop {
            let line = match self.line() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            let frame = match line {
                RawLine::TooLong => Some(Err(too_long_error())),
                RawLine::Whole(line) => parse_frame(&line),
            };
            if frame.is_some() {
                return frame.map(Ok);
            }
        }
    }
}
