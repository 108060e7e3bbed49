//! The ends of a program's pipes, each with a thread of its own, since any of them may stand still.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::wait_out;
use crate::text;

/// Bytes of what a program complains that are kept.
const TAIL_BYTES_MAX: usize = 2_048;
/// Characters of a program's complaint that are repeated.
const COMPLAINT_CHARS_MAX: usize = 200;

/// Time in which the threads of a program that was ended end, too, and between two looks.
const END_WAIT: Duration = Duration::from_millis(500);
const END_LOOK: Duration = Duration::from_millis(2);

/// The result of spawning the thread of a pipe: the other end, and the thread.
type PipeEndWithThread<C> = io::Result<(C, JoinHandle<()>)>;

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("provider".to_owned()).spawn(work)
}

/// Joins the threads of a program that was ended, once they ended.
///
/// What it started in a session of its own was not ended, and may hold its pipes for ever. Their
/// threads end with them, and nobody waits for that.
pub(super) fn join_ended(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    let mut left = END_WAIT;
    for thread in threads {
        while !thread.is_finished() && !left.is_zero() {
            wait_out(END_LOOK);
            left = left.saturating_sub(END_LOOK);
        }
        match thread.is_finished() {
            true => drop(thread.join()),
            false => log::warn!("what a program started holds its pipes, and was not ended"),
        }
    }
}

/// Writes texts to a program until the sender is dropped.
pub(super) fn writer(mut input: ChildStdin) -> PipeEndWithThread<Sender<String>> {
    let (sender, texts) = unbounded::<String>();
    let thread = spawn(move || {
        for text in texts {
            // A program need not read all of it; its answer or its end tells.
            if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok((sender, thread))
}

/// Reads all that a program answers, up to one byte more than it may.
pub(super) fn whole(
    output: ChildStdout,
    bytes_max: u64,
) -> PipeEndWithThread<Receiver<io::Result<Vec<u8>>>> {
    let (sender, answer) = unbounded();
    let thread = spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(bytes_max + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    })?;
    Ok((answer, thread))
}

/// A line of a program.
pub(super) struct OutputLine {
    pub(super) bytes: Vec<u8>,
    /// Whether more came with it.
    pub(super) is_followed: bool,
}

/// Reads the lines that a program answers, each up to one byte more than it may have.
pub(super) fn lines(
    output: ChildStdout,
    bytes_max: u64,
) -> PipeEndWithThread<Receiver<OutputLine>> {
    let (sender, answer) = unbounded();
    let thread = spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut bytes = Vec::new();
            let read = (&mut output).take(bytes_max + 1).read_until(b'\n', &mut bytes);
            let is_over = !matches!(read, Ok(n) if 0 < n);
            let is_followed = !output.buffer().is_empty();
            if is_over || sender.send(OutputLine { bytes, is_followed }).is_err() {
                return;
            }
        }
    })?;
    Ok((answer, thread))
}

/// Reads what a program complains to its end, and keeps the last of it.
pub(super) fn complaint(mut errors: ChildStderr) -> PipeEndWithThread<Receiver<String>> {
    let (sender, said) = unbounded();
    let thread = spawn(move || {
        let (mut tail, mut buffer) = (Vec::new(), [0; 1024]);
        while let Ok(n @ 1..) = errors.read(&mut buffer) {
            tail.extend_from_slice(&buffer[..n]);
            tail.drain(..tail.len().saturating_sub(TAIL_BYTES_MAX));
        }
        let tail = String::from_utf8_lossy(&tail);
        let last = tail.lines().map(str::trim).rfind(|it| !it.is_empty()).unwrap_or_default();
        let _ = sender.send(text::truncate_chars(last, COMPLAINT_CHARS_MAX));
    })?;
    Ok((said, thread))
}
