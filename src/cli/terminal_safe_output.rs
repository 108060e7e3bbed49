//! Output streams: at a terminal, texts are shown and never obeyed; elsewhere every byte stays.

use std::fmt;
use std::io::{self, Write};

use super::color::{PaintedText, PlainOrAnsi};
use crate::text::make_visible;

/// Whether a stream ends at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalOrElsewhere {
    Terminal,
    Elsewhere,
}

impl TerminalOrElsewhere {
    pub(super) fn of(stream: &impl io::IsTerminal) -> TerminalOrElsewhere {
        if stream.is_terminal() {
            TerminalOrElsewhere::Terminal
        } else {
            TerminalOrElsewhere::Elsewhere
        }
    }
}

/// A stream of texts. A note is no program for the terminal: what it would obey or hide is written
/// in a visible form.
pub(super) struct TextStream<W> {
    stream: W,
    end: TerminalOrElsewhere,
    /// The first bytes of a character whose others are still to come.
    begun: Vec<u8>,
}

impl<W: Write> TextStream<W> {
    pub(super) fn new(stream: W, end: TerminalOrElsewhere) -> TextStream<W> {
        TextStream { stream, end, begun: Vec::new() }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.end == TerminalOrElsewhere::Terminal
    }

    /// Writes what `write!` formats.
    pub(super) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        Write::write_fmt(self, text)
    }

    /// Writes a text with its colours, the only escape sequences that a terminal gets.
    pub(super) fn write_painted(
        &mut self,
        text: &PaintedText,
        colors: PlainOrAnsi,
    ) -> io::Result<()> {
        for (role, piece) in text.pieces() {
            let codes = role.and_then(|it| colors.codes(it)).filter(|_| !piece.is_empty());
            let (on, off) = codes.unwrap_or_default();
            self.stream.write_all(on.as_bytes())?;
            self.write_all(piece.as_bytes())?;
            self.stream.write_all(off.as_bytes())?;
        }
        Ok(())
    }
}

impl<W: Write> Write for TextStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal() {
            return self.stream.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let n_begun = n_begun_bytes(&self.begun);
        let whole = self.begun.len() - n_begun;
        let text = String::from_utf8_lossy(&self.begun[..whole]);
        self.stream.write_all(make_visible(&text).as_bytes())?;
        self.begun.drain(..whole);
        Ok(bytes.len())
    }

    /// Writes the whole text at once, so that no line of another thread comes in between.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(text.to_string().as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Returns the bytes at the end that may be the beginning of a character.
fn n_begun_bytes(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && is_begun(last.invalid()) => {
            last.invalid().len()
        }
        _ => 0,
    }
}

fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|it| it.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::color::TextRole;

    /// Returns the bytes that reach the end of a stream.
    fn reached(end: TerminalOrElsewhere, write: impl Fn(&mut TextStream<&mut Vec<u8>>)) -> String {
        let mut bytes = Vec::new();
        write(&mut TextStream::new(&mut bytes, end));
        String::from_utf8(bytes).unwrap()
    }

    const HOSTILE: &str = "\x1b[2J\x07\r\u{9b}31m\u{202e}\u{2066}\u{e0041}a\tb\n";

    #[test]
    fn a_terminal_gets_nothing_that_it_would_obey_and_a_pipe_every_byte() {
        let write = |out: &mut TextStream<&mut Vec<u8>>| out.write_all(HOSTILE.as_bytes()).unwrap();
        assert_eq!(
            reached(TerminalOrElsewhere::Terminal, write),
            "\\u{1b}[2J\\u{7}\\u{d}\\u{9b}31m\\u{202e}\\u{2066}\\u{e0041}a\tb\n"
        );
        assert_eq!(reached(TerminalOrElsewhere::Elsewhere, write), HOSTILE);
    }

    #[test]
    fn a_text_that_comes_byte_by_byte_is_shown_as_one_that_comes_at_once() {
        let by_byte = reached(TerminalOrElsewhere::Terminal, |out| {
            for byte in "ü\u{202e}🦀".bytes() {
                out.write_all(&[byte]).unwrap();
            }
        });
        assert_eq!(by_byte, "ü\\u{202e}🦀");
    }

    #[test]
    fn a_message_is_one_write() {
        struct WriteCallCounter(usize);
        impl Write for WriteCallCounter {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for end in [TerminalOrElsewhere::Terminal, TerminalOrElsewhere::Elsewhere] {
            let mut count = WriteCallCounter(0);
            let address = "127.0.0.1";
            let mut stream = TextStream::new(&mut count, end);
            writeln!(stream, "listening on {address}:{}", 7474).unwrap();
            assert_eq!(count.0, 1);
        }
    }

    #[test]
    fn colours_are_the_only_sequences_of_a_painted_text() {
        let mut text = PaintedText::default();
        text.paint(TextRole::Dim, "\x1b[0mhidden");
        text.push("\x1b[31m plain");
        for (colors, shown) in [
            (PlainOrAnsi::Ansi, "\x1b[2m\\u{1b}[0mhidden\x1b[0m\\u{1b}[31m plain"),
            (PlainOrAnsi::Plain, "\\u{1b}[0mhidden\\u{1b}[31m plain"),
        ] {
            let write = |out: &mut TextStream<&mut Vec<u8>>| {
                out.write_painted(&text, colors).unwrap();
            };
            assert_eq!(reached(TerminalOrElsewhere::Terminal, write), shown);
        }
    }
}
