//! A program that is asked once: the question on standard input, the answer on standard output.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::process_group::ProcessGroup;
use super::{CancellableSleep, ProviderError, pipes};
use crate::model::clock::{Clock, Stopwatch};

/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Time between two looks at whether somebody still waits.
const LOOK: Duration = Duration::from_millis(50);

/// The time that is left for an answer.
pub(super) struct Deadline<'a> {
    stopwatch: Stopwatch,
    timeout: Duration,
    pause: CancellableSleep<'a>,
}

impl Deadline<'_> {
    pub(super) fn new(timeout: Duration, pause: CancellableSleep<'_>) -> Deadline<'_> {
        Deadline { stopwatch: Clock::System.stopwatch(), timeout, pause }
    }

    /// Waits for what a program sends; `None` at its end.
    pub(super) fn receive<T>(&self, from: &Receiver<T>) -> Result<Option<T>, ProviderError> {
        loop {
            match from.recv_timeout(LOOK) {
                Ok(it) => return Ok(Some(it)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.check()?,
            }
        }
    }

    fn check(&self) -> Result<(), ProviderError> {
        if (self.pause)(Duration::ZERO) {
            return Err(ProviderError::Stopped);
        }
        let elapsed = u64::try_from(self.stopwatch.elapsed_ms()).unwrap_or(0);
        match self.timeout <= Duration::from_millis(elapsed) {
            true => Err(ProviderError::Late(self.timeout)),
            false => Ok(()),
        }
    }
}

/// Returns the error of a program that does not start.
pub(super) fn not_started(words: &[String], error: &std::io::Error) -> ProviderError {
    let program = words.first().map_or("", String::as_str);
    ProviderError::Unusable(format!("`{program}` does not start: {error}"))
}

/// Asks a program, and returns its answer.
pub(super) fn ask(
    words: &[String],
    question: &str,
    timeout: Duration,
    pause: CancellableSleep<'_>,
) -> Result<Vec<u8>, ProviderError> {
    let fault = |error| not_started(words, &error);
    let deadline = Deadline::new(timeout, pause);
    let mut program = ProcessGroup::start(words).map_err(fault)?;
    let (Some(input), Some(output), Some(errors)) =
        (program.0.stdin.take(), program.0.stdout.take(), program.0.stderr.take())
    else {
        return Err(fault(std::io::ErrorKind::BrokenPipe.into()));
    };
    let (sender, writing) = pipes::writer(input).map_err(fault)?;
    let (answer, reading) = pipes::whole(output, ANSWER_BYTES_MAX).map_err(fault)?;
    let (said, complaining) = pipes::complaint(errors).map_err(fault)?;
    let _ = sender.send(format!("{question}\n"));
    drop(sender);
    let outcome = outcome(&deadline, &mut program, &answer, &said);
    // Ends whatever still holds a pipe.
    drop(program);
    pipes::join_ended([writing, reading, complaining]);
    outcome
}

fn outcome(
    deadline: &Deadline<'_>,
    program: &mut ProcessGroup,
    answer: &Receiver<std::io::Result<Vec<u8>>>,
    said: &Receiver<String>,
) -> Result<Vec<u8>, ProviderError> {
    let cut = |why: String| ProviderError::Cut(why);
    let answer = match deadline.receive(answer)? {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => return Err(cut(error.to_string())),
        None => return Err(cut("nothing was read".to_owned())),
    };
    if ANSWER_BYTES_MAX < answer.len() as u64 {
        return Err(ProviderError::TooLarge(ANSWER_BYTES_MAX));
    }
    let status = loop {
        match program.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {
                deadline.check()?;
                if (deadline.pause)(Duration::from_millis(5)) {
                    return Err(ProviderError::Stopped);
                }
            }
            Err(error) => return Err(cut(error.to_string())),
        }
    };
    if status.success() {
        return Ok(answer);
    }
    let said = deadline.receive(said)?.unwrap_or_default();
    let colon = if said.is_empty() { "" } else { ": " };
    Err(ProviderError::Failed(format!("{status}{colon}{said}")))
}
