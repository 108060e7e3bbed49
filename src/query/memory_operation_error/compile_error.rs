//! Compile errors: the reasons why a folder or file was not compiled.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ingest::parse::Syntax;
use crate::ingest::scan::document_kind;
use crate::query::render::to_name;
use crate::store::StoreError;

/// A reason why nothing was compiled.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// The file or folder neither exists nor is known.
    NoSource {
        /// The requested path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file's format is not supported, or its root's settings leave it out.
    Unsupported {
        /// The file.
        path: PathBuf,
    },
    /// The caller cancelled.
    GivenUp,
    /// The time limit of the root's settings was exceeded.
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// Others compiled a folder within this one or around it meanwhile, several times.
    Overtaken,
    /// The compile ended early; what it wrote until then is kept.
    Unfinished {
        /// Files that are compiled.
        n_kept: usize,
        /// Files that were to be compiled.
        n_files: usize,
        /// The reason.
        cause: Box<CompileError>,
    },
    /// The settings of the root are invalid.
    Settings {
        /// The mistake and its remedy.
        what: String,
    },
    /// The folder has no notes and does not look like the one whose files are known.
    Emptied {
        /// The folder.
        path: PathBuf,
    },
    /// The path is not UTF-8.
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The database failed.
    Store(StoreError),
}

impl CompileError {
    /// Returns whether the caller cancelled.
    pub(crate) fn is_given_up(&self) -> bool {
        match self {
            CompileError::GivenUp => true,
            CompileError::Unfinished { cause, .. } => cause.is_given_up(),
            _ => false,
        }
    }

    /// Returns the reason without the claim that nothing was changed.
    fn reason(&self) -> String {
        match self {
            CompileError::GivenUp => "the compile was stopped".to_owned(),
            CompileError::TimedOut { limit } => {
                format!("wall-clock timeout exceeded: `compile.wall_clock_timeout` is {limit:?}")
            }
            CompileError::Store(error) => error.after_a_change(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::NoSource { path, source } => {
                write!(f, "cannot compile `{}`: {source}", named(path))
            }
            CompileError::Unsupported { path } if is_code(path) => write!(
                f,
                "cannot compile `{}`: source code is read only where `compile.code` is true in \
                 the settings; set it in .remindb/config.json of the folder",
                named(path)
            ),
            CompileError::Unsupported { path } => write!(
                f,
                "cannot compile `{}`: {}; name a folder, or a file that ends in {}",
                named(path),
                match document_kind(&path.to_string_lossy()) {
                    Some(kind) => format!("{kind} are not read"),
                    None => "not a format that is understood".to_owned(),
                },
                Syntax::endings().map(|it| format!(".{it}")).collect::<Vec<_>>().join(", ")
            ),
            CompileError::NotUtf8 { path } => write!(
                f,
                "cannot compile `{}`: the path is not UTF-8; rename what is not",
                named(path)
            ),
            CompileError::Emptied { path } => write!(
                f,
                "`{}` has no notes and is not the folder that it was; if it is not just unmounted, \
                 compile it by hand to forget its files",
                named(path)
            ),
            CompileError::GivenUp | CompileError::TimedOut { .. } => {
                write!(f, "{}; nothing was changed", self.reason())
            }
            CompileError::Overtaken => f.write_str(
                "folders within this one or around it were compiled again and again meanwhile; \
                 nothing was changed; compile again",
            ),
            CompileError::Unfinished { n_kept, n_files, cause } => write!(
                f,
                "{}; {n_kept} of {n_files} files were compiled before and are kept; compile again \
                 to go on",
                cause.reason()
            ),
            CompileError::Settings { what } => f.write_str(what),
            CompileError::Store(error) => error.fmt(f),
        }
    }
}

/// Returns a path for a line of a message: it may be of an agent's making.
fn named(path: &Path) -> String {
    to_name(&path.to_string_lossy())
}

fn is_code(path: &Path) -> bool {
    matches!(Syntax::of(&path.to_string_lossy()), Some(Syntax::Code(_)))
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CompileError::NoSource { source, .. } => Some(source),
            CompileError::Store(error) => Some(error),
            CompileError::Unfinished { cause, .. } => cause.source(),
            CompileError::Unsupported { .. }
            | CompileError::Emptied { .. }
            | CompileError::NotUtf8 { .. }
            | CompileError::TimedOut { .. }
            | CompileError::Settings { .. }
            | CompileError::Overtaken
            | CompileError::GivenUp => None,
        }
    }
}

impl From<StoreError> for CompileError {
    fn from(error: StoreError) -> CompileError {
        CompileError::Store(error)
    }
}
