//! A program that goes on: a text on each line of standard input, an answer on each of output.
//!
//! It is started with the first text and kept, since a model takes long to load; where it fails or
//! is late, it is ended, and the next text starts it again.

use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

use super::one_shot_command::{Deadline, not_started};
use super::process_group::ProcessGroup;
use super::{CancellableSleep, ProviderError, RedactedText, pipes};
use crate::text;

/// Bytes of the answer to one text, at most.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// A running program.
pub(super) struct LineProcess {
    texts: Option<Sender<String>>,
    answers: Receiver<Vec<u8>>,
    said: Receiver<String>,
    program: Option<ProcessGroup>,
    threads: Vec<JoinHandle<()>>,
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
        })
    }

    /// Sends texts, a line each, and returns as many lines.
    pub(super) fn ask(
        &self,
        texts: &[RedactedText],
        timeout: Duration,
        pause: CancellableSleep<'_>,
    ) -> Result<Vec<Vec<u8>>, ProviderError> {
        let deadline = Deadline::new(timeout, pause);
        let lines = texts.iter().map(|it| text::fold_whitespace(it.as_str()) + "\n").collect();
        if let Some(sender) = &self.texts {
            let _ = sender.send(lines);
        }
        let mut answers = Vec::with_capacity(texts.len());
        while answers.len() < texts.len() {
            let line = match deadline.receive(&self.answers) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    let said = deadline.receive(&self.said)?.unwrap_or_default();
                    let n = answers.len();
                    let what = format!("it ended after {n} of {} lines; {said}", texts.len());
                    return Err(ProviderError::Cut(what.trim_end_matches("; ").to_owned()));
                }
                Err(ProviderError::Late(wait)) => {
                    log::debug!("a command must write each line as soon as it has it");
                    return Err(ProviderError::Late(wait));
                }
                Err(error) => return Err(error),
            };
            if LINE_BYTES_MAX < line.len() as u64 {
                return Err(ProviderError::TooLarge(LINE_BYTES_MAX));
            }
            answers.push(line);
        }
        Ok(answers)
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.texts = None;
        self.program = None;
        pipes::join_ended(self.threads.drain(..));
    }
}
