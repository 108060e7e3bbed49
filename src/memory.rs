//! The memory as one value: a database with its connections, for whoever embeds it, the command
//! line
//! and the server alike. It starts no thread and keeps no global state.

mod voice;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;
use crate::compile::{self, CompileError, Report, Request};
use crate::heat;
use crate::query::{self, Attention, QueryError};
use crate::redact::Redactor;
use crate::store::reader::Reader;
use crate::store::{IfMissing, Root, StoreError, Warmer, Warmth, Writer};

pub use voice::{ForgetMode, WriteMode};

/// A database of notes, open.
///
/// All methods take `&self` and may be called from any thread: one writes at a time, any number
/// read.
pub struct Memory {
    path: PathBuf,
    clock: Clock,
    redactor: Redactor,
    // Closed in this order: the last connection to go writes the log back into the file and removes
    // it, which one that only reads cannot do.
    /// Connections that nobody reads from right now.
    readers: Mutex<Vec<Reader>>,
    warmer: Warmer,
    writer: Writer,
}

/// What a question is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer as an agent reads it, within its budget of tokens.
    pub text: String,
    /// The same selection of facts as JSON.
    pub structured: serde_json::Value,
}

/// Why a memory could not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The database could not be opened, read or written.
    Store(StoreError),
    /// Nothing was compiled.
    Compile(CompileError),
    /// The question makes no sense; the text says what would.
    BadArgument(String),
    /// What was asked for does not exist; the text names what is near.
    NotFound(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::Compile(error) => error.fmt(f),
            Error::BadArgument(why) | Error::NotFound(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Store(error) => Some(error),
            Error::Compile(error) => Some(error),
            Error::BadArgument(_) | Error::NotFound(_) => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::Store(error)
    }
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        match error {
            CompileError::Store(error) => Error::Store(error),
            error => Error::Compile(error),
        }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        match error {
            QueryError::BadArgument(why) => Error::BadArgument(why),
            QueryError::NotFound(why) => Error::NotFound(why),
            QueryError::Store(error) => Error::Store(error),
        }
    }
}

impl Memory {
    /// Opens the memory at `path`, making it if there is none.
    ///
    /// # Errors
    ///
    /// The folder does not exist, the file is something else, or its schema is newer than this
    /// build.
    pub fn create(path: &Path) -> Result<Memory, Error> {
        Memory::open_at(path, IfMissing::Create, Clock::System)
    }

    /// Opens the memory at `path`; an error if there is none.
    ///
    /// # Errors
    ///
    /// As [`Memory::create`], and when the file does not exist: nothing is made then.
    pub fn open(path: &Path) -> Result<Memory, Error> {
        Memory::open_at(path, IfMissing::Refuse, Clock::System)
    }

    /// The same memory with another clock, such as one that a test sets.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Memory {
        Memory { clock, ..self }
    }

    pub(crate) fn open_at(
        path: &Path,
        if_missing: IfMissing,
        clock: Clock,
    ) -> Result<Memory, Error> {
        let writer = Writer::open(path, if_missing)?;
        let warmer = Warmer::open(path)?;
        let readers = Mutex::new(vec![Reader::open(path)?]);
        let redactor = Redactor::builtin();
        Ok(Memory { path: path.to_owned(), redactor, writer, warmer, readers, clock })
    }

    /// Makes the memory what the folder or file at `path` (absolute) says now, in one snapshot.
    ///
    /// # Errors
    ///
    /// There is nothing at `path` and nothing is known of it, or the database failed. A single file
    /// that cannot be compiled is a warning of the report.
    pub fn compile(&self, path: &Path, message: &str) -> Result<Report, Error> {
        let request = Request {
            path,
            message,
            n_threads: 1,
            redactor: &self.redactor,
            progress: &|_, _| true,
        };
        self.compile_as(&request)
    }

    /// Returns the nodes that `words` find, best last, in at most `budget` cl100k tokens.
    ///
    /// # Errors
    ///
    /// The database failed; no words do that.
    pub fn search(&self, words: &str, budget: Option<u32>) -> Result<Answer, Error> {
        let ask = query::Search { query: words, budget, ..query::Search::default() };
        self.ask(|reader| query::search(reader, &ask))
    }

    /// Returns a node's text with what is around it, the node itself last, in at most `budget`
    /// tokens.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn fetch(&self, anchor: &str, budget: Option<u32>) -> Result<Answer, Error> {
        let ask = query::Fetch { anchor, budget, levels: query::levels(None, query::FETCH_LEVELS) };
        self.ask(|reader| query::fetch(reader, &ask))
    }

    /// Returns the outline below a node, or of everything, in at most `budget` tokens.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn tree(&self, root: Option<&str>, budget: Option<u32>) -> Result<Answer, Error> {
        let ask = query::Tree { root, levels: query::levels(None, query::TREE_LEVELS), budget };
        self.ask(|reader| query::tree(reader, &ask))
    }

    /// Returns the facts about the memory as a whole.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn stats(&self) -> Result<Answer, Error> {
        self.ask(|reader| query::stats(reader, self.clock.now()))
    }

    pub(crate) fn compile_as(&self, request: &Request<'_>) -> Result<Report, Error> {
        Ok(compile::compile(&self.writer, request, self.clock.now())?)
    }

    /// What must not be stored.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Every compiled folder.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, Error> {
        Ok(self.writer.roots()?)
    }

    /// Asks on a reading connection, and warms what was shown: the one place that does.
    pub(crate) fn ask(
        &self,
        question: impl FnOnce(&Reader) -> Result<query::Answer, QueryError>,
    ) -> Result<Answer, Error> {
        let query::Answer { text, structured, warmed } = self.read(question)?;
        let at = self.clock.now();
        let warmth: Vec<Warmth> = warmed
            .into_iter()
            .map(|(node, attention)| Warmth { node, by: boost(attention), at })
            .collect();
        if let Err(error) = self.warmer.warm(&warmth) {
            // The answer is right all the same.
            log::warn!("nodes were not warmed: {error}");
        }
        Ok(Answer { text, structured })
    }

    /// Reads without being a signal: nothing is warmed.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let answer = question(&reader);
        // A panic above drops the connection instead of giving it back.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        answer
    }
}

fn boost(attention: Attention) -> f64 {
    match attention {
        Attention::Glanced => heat::SEARCH_BOOST,
        Attention::Read => heat::ACCESS_BOOST,
    }
}
