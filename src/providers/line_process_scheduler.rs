//! The turns at a program of lines: a question goes before all texts, and does not wait for long.
//!
//! The program is started with the first of them and kept; where it fails or is late, it is ended,
//! and the next one starts it again. A question that nobody waits for any more leaves it running.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::line_process::LineProcess;
use super::{CancellableSleep, ProviderError, RedactedText, response_parsing};

/// Longest wait of a question for its turn.
const TURN_WAIT: Duration = Duration::from_millis(300);
/// Longest wait of a question for its answer.
const ANSWER_WAIT: Duration = Duration::from_secs(1);
/// Time between two looks of a text at whether somebody still waits for it.
const LOOK: Duration = Duration::from_millis(50);

/// A program that one text at a time is sent to.
pub(super) struct LineProcessTurns {
    command: Vec<String>,
    /// Longest wait for a line.
    timeout: Duration,
    state: Mutex<ProcessTurnQueue>,
    freed: Condvar,
}

#[derive(Default)]
struct ProcessTurnQueue {
    process: Option<LineProcess>,
    is_taken: bool,
    /// Questions that wait for their turn.
    n_questions: usize,
}

enum QuestionOutcome {
    Answered(Vec<f32>),
    /// The answer to another question is still to come.
    Busy,
    /// Its own answer is still to come.
    Slow,
}

impl LineProcessTurns {
    /// Returns a program that does not run yet.
    pub(super) fn new(command: Vec<String>, timeout: Duration) -> LineProcessTurns {
        LineProcessTurns { command, timeout, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Returns the vector of a text.
    pub(super) fn embed_text(
        &self,
        text: &RedactedText,
        pause: CancellableSleep<'_>,
    ) -> Result<Vec<f32>, ProviderError> {
        let mut turn = self.turn_of_text(pause)?;
        turn.ask(|process| {
            process.answer(self.timeout, self.timeout, pause)?;
            process.send(text)?;
            let line = process.answer(self.timeout, self.timeout, pause)?;
            vector(&line.ok_or(ProviderError::Late(self.timeout))?)
        })
    }

    /// Returns the vector of a question; `None` where others are asked about.
    pub(super) fn embed_question(
        &self,
        question: &RedactedText,
    ) -> Result<Option<Vec<f32>>, ProviderError> {
        let Some(mut turn) = self.turn_of_question() else { return Ok(None) };
        let outcome = turn.ask(|process| {
            process.answer(TURN_WAIT, self.timeout, &|_| false)?;
            if process.is_asked() {
                return Ok(QuestionOutcome::Busy);
            }
            process.send(question)?;
            match process.answer(ANSWER_WAIT, self.timeout, &|_| false)? {
                Some(line) => vector(&line).map(QuestionOutcome::Answered),
                None => Ok(QuestionOutcome::Slow),
            }
        })?;
        match outcome {
            QuestionOutcome::Answered(vector) => Ok(Some(vector)),
            QuestionOutcome::Busy => Ok(None),
            QuestionOutcome::Slow => Err(ProviderError::Slow(ANSWER_WAIT)),
        }
    }

    /// Waits for the turn of a text, which comes behind all questions.
    fn turn_of_text(
        &self,
        pause: CancellableSleep<'_>,
    ) -> Result<ProcessTurnGuard<'_>, ProviderError> {
        loop {
            let is_others = |it: &mut ProcessTurnQueue| it.is_taken || 0 < it.n_questions;
            let waited = self.freed.wait_timeout_while(self.lock(), LOOK, is_others);
            let (state, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
            if !outcome.timed_out() {
                return Ok(self.taken(state));
            }
            drop(state);
            if pause(Duration::ZERO) {
                return Err(ProviderError::Stopped);
            }
        }
    }

    fn turn_of_question(&self) -> Option<ProcessTurnGuard<'_>> {
        let mut state = self.lock();
        state.n_questions += 1;
        let waited = self.freed.wait_timeout_while(state, TURN_WAIT, |it| it.is_taken);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.n_questions -= 1;
        (!state.is_taken).then(|| self.taken(state))
    }

    fn taken(&self, mut state: MutexGuard<'_, ProcessTurnQueue>) -> ProcessTurnGuard<'_> {
        state.is_taken = true;
        ProcessTurnGuard { turns: self, process: state.process.take() }
    }

    fn lock(&self) -> MutexGuard<'_, ProcessTurnQueue> {
        // A poisoned lock is sound: no change of the state is left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, which ends with this value.
struct ProcessTurnGuard<'a> {
    turns: &'a LineProcessTurns,
    process: Option<LineProcess>,
}

impl ProcessTurnGuard<'_> {
    /// Asks the program, which is started if it does not run. One that failed is ended, since its
    /// next line may answer an old text.
    fn ask<T>(
        &mut self,
        ask: impl FnOnce(&mut LineProcess) -> Result<T, ProviderError>,
    ) -> Result<T, ProviderError> {
        let mut process = match self.process.take() {
            Some(running) => running,
            None => LineProcess::start(&self.turns.command)?,
        };
        let answer = ask(&mut process)?;
        self.process = Some(process);
        Ok(answer)
    }
}

impl Drop for ProcessTurnGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        state.process = self.process.take();
        state.is_taken = false;
        drop(state);
        self.turns.freed.notify_all();
    }
}

fn vector(line: &[u8]) -> Result<Vec<f32>, ProviderError> {
    response_parsing::vector(&response_parsing::parse_json(line)?)
}
