//! A program that goes on: a text on each line of standard input, an answer on each of output.
//!
//! It is kept, since a model takes long to load. It has one text at a time, so that each answer is
//! of the text before it: a line that nothing was asked for is an error.

use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

use super::one_shot_command::{Deadline, not_started};
use super::pipes::{self, OutputLine};
use super::process_group::ProcessGroup;
use super::{CancellableSleep, ProviderError, RedactedText};
use crate::model::clock::{Clock, Stopwatch};
use crate::text;

/// Bytes of the answer to one text, at most.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// Time in which a program that writes too many lines has written another behind its first.
const FURTHER_LINE_WAIT: Duration = Duration::from_millis(100);

/// A running program.
pub(super) struct LineProcess {
    texts: Option<Sender<String>>,
    answers: Receiver<OutputLine>,
    said: Receiver<String>,
    program: Option<ProcessGroup>,
    threads: Vec<JoinHandle<()>>,
    /// Runs since the text was sent whose answer is still to come.
    asked: Option<Stopwatch>,
    is_new: bool,
}

impl LineProcess {
    /// Starts a program.
    pub(super) fn start(words: &[String]) -> Result<LineProcess, ProviderError> {
        let fault = |error| not_started(words, &error);
        let mut program = ProcessGroup::start(words).map_err(fault)?;
        let (Some(input), Some(output), Some(errors)) =
            (program.0.stdin.take(), program.0.stdout.take(), program.0.stderr.take())
        else {
            return Err(fault(std::io::ErrorKind::BrokenPipe.into()));
        };
        let (texts, writing) = pipes::writer(input).map_err(fault)?;
        let (answers, reading) = pipes::lines(output, LINE_BYTES_MAX).map_err(fault)?;
        let (said, complaining) = pipes::complaint(errors).map_err(fault)?;
        Ok(LineProcess {
            texts: Some(texts),
            answers,
            said,
            program: Some(program),
            threads: vec![writing, reading, complaining],
            asked: None,
            is_new: true,
        })
    }

    /// Sends a text, as one line.
    pub(super) fn send(&mut self, text: &RedactedText) -> Result<(), ProviderError> {
        if !self.answers.is_empty() {
            return Err(further_line());
        }
        if let Some(sender) = &self.texts {
            let _ = sender.send(text::fold_whitespace(text.as_str()) + "\n");
        }
        self.asked = Some(Clock::System.stopwatch());
        Ok(())
    }

    /// Returns whether the answer to a text is still to come.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns the answer to the text that was sent; `None` where there is no such text, or no
    /// answer yet after a wait that leaves it time. It has `timeout` from the sending on.
    pub(super) fn answer(
        &mut self,
        wait: Duration,
        timeout: Duration,
        pause: CancellableSleep<'_>,
    ) -> Result<Option<Vec<u8>>, ProviderError> {
        let Some(asked) = &self.asked else { return Ok(None) };
        let elapsed = u64::try_from(asked.elapsed_ms()).unwrap_or(0);
        let left = timeout.saturating_sub(Duration::from_millis(elapsed));
        let deadline = Deadline::new(wait.min(left), pause);
        let line = match deadline.receive(&self.answers) {
            Ok(Some(line)) => line,
            Ok(None) => {
                let said = deadline.receive(&self.said)?.unwrap_or_default();
                let colon = if said.is_empty() { "" } else { "; " };
                return Err(ProviderError::Cut(format!("it ended before its line{colon}{said}")));
            }
            Err(ProviderError::Late(_)) if wait < left => return Ok(None),
            Err(ProviderError::Late(_)) => {
                log::debug!("a command must write each line as soon as it has it");
                return Err(ProviderError::Late(timeout));
            }
            Err(error) => return Err(error),
        };
        self.asked = None;
        if LINE_BYTES_MAX < line.bytes.len() as u64 {
            return Err(ProviderError::TooLarge(LINE_BYTES_MAX));
        }
        let wait = if self.is_new { FURTHER_LINE_WAIT } else { Duration::ZERO };
        self.is_new = false;
        match line.is_followed || self.answers.recv_timeout(wait).is_ok() {
            true => Err(further_line()),
            false => Ok(Some(line.bytes)),
        }
    }
}

fn further_line() -> ProviderError {
    let why = "a line came for which there was no text; it must write one line for each";
    ProviderError::Malformed(why.to_owned())
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.texts = None;
        self.program = None;
        pipes::join_ended(self.threads.drain(..));
    }
}
