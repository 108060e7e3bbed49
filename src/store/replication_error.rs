//! Errors of a memory that many machines share: which side failed, and what is safe.

use std::fmt;
use std::path::PathBuf;

/// A reason why a shared memory was not written or followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedError {
    /// The server cannot be reached.
    Unreachable {
        /// The server, without a password.
        server: String,
        /// The system's reason.
        why: String,
    },
    /// A read was to see what the server has, which cannot be reached.
    NotFresh {
        /// The server.
        server: String,
        /// The system's reason.
        why: String,
    },
    /// The server is not the one that was asked for, or would let others read along.
    Untrusted {
        /// The server.
        server: String,
        /// The reason.
        why: String,
    },
    /// Another machine has been writing for longer than this one waits.
    Busy {
        /// The server.
        server: String,
    },
    /// The server did what the caller had no answer to, or did not.
    InDoubt {
        /// The server.
        server: String,
    },
    /// The server refused a step.
    Refused {
        /// The server.
        server: String,
        /// Its message.
        what: String,
    },
    /// There is no such space.
    NoSpace {
        /// The space, without a password.
        url: String,
    },
    /// The file is no replica.
    NoReplica,
    /// The file is a replica, and was opened without its log.
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The space.
        url: String,
    },
    /// The file is a replica of another space.
    OtherSpace {
        /// The space that the file belongs to.
        url: String,
    },
    /// The replica is not where the log says.
    Diverged {
        /// The first entry that is known to differ.
        since: i64,
    },
    /// Entries after this one are not in the log any more.
    Gap {
        /// The replica's last entry.
        after: i64,
    },
    /// An entry is damaged, or of a form that this build does not know.
    BadEntry {
        /// Its number.
        seq: i64,
    },
    /// The entries have another schema than this build.
    OtherSchema {
        /// Their schema.
        found: i64,
        /// This build's.
        own: i64,
    },
    /// Something changed the file past the log.
    Unpublished {
        /// The command that did.
        what: String,
    },
    /// The process lost the right to compile the root, which it had.
    LeaseLost {
        /// The root's name.
        root: String,
    },
    /// Another process compiles the root.
    Compiled {
        /// The root's name.
        root: String,
        /// The process.
        holder: String,
    },
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SharedError::Unreachable { server, why } => f.write_str(&unreachable(server, why)),
            SharedError::NotFresh { server, why } => f.write_str(&not_fresh(server, why)),
            SharedError::Untrusted { server, why } => write!(
                f,
                "PostgreSQL at {server} is not trusted: {why}; it got no password, and nothing was \
                 written; reads go on"
            ),
            SharedError::Busy { server } => write!(
                f,
                "cannot write: another machine has been writing to PostgreSQL at {server} for a \
                 long time; nothing was written; try again later"
            ),
            SharedError::InDoubt { server } => write!(
                f,
                "PostgreSQL at {server} did not say whether it kept the write; it may or may not \
                 be kept: look before you do it again"
            ),
            SharedError::Refused { server, what } => {
                write!(f, "PostgreSQL at {server} refused: {what}; nothing was written")
            }
            SharedError::NoSpace { url } => write!(
                f,
                "there is no space `{url}`; make it with `remindb space create {url} --db FILE`"
            ),
            SharedError::NoReplica => f.write_str(
                "this memory is no replica; `remindb space join URL --db FILE` makes one",
            ),
            SharedError::ReadOnly { path, url } => f.write_str(&read_only(&path.display(), url)),
            SharedError::OtherSpace { url } => write!(
                f,
                "this memory is a replica of {url}; `remindb space leave` makes it one of its own"
            ),
            SharedError::Diverged { since } => write!(
                f,
                "this replica and the log differ since entry {since}; see remindb space join \
                 --rebase"
            ),
            SharedError::Gap { after } => write!(
                f,
                "the log has no more entries right after {after}, where this replica is; see \
                 remindb space join --rebase"
            ),
            SharedError::BadEntry { seq } => write!(
                f,
                "entry {seq} of the log is damaged, or of a form that this program does not know; \
                 reads go on"
            ),
            SharedError::OtherSchema { found, own } => f.write_str(&other_schema(*found, *own)),
            SharedError::Unpublished { what } => write!(
                f,
                "`remindb {what}` changed this replica past the log; publish it with `remindb \
                 space image`; until then nothing is written"
            ),
            SharedError::LeaseLost { root } => write!(
                f,
                "the right to compile `{root}` ended while this process did not go on; nothing \
                 was written since; compile again"
            ),
            SharedError::Compiled { root, holder } => write!(
                f,
                "{holder} compiles `{root}`; it alone does until it ends, or 90 s after it was \
                 last seen"
            ),
        }
    }
}

fn unreachable(server: &str, why: &str) -> String {
    let why = in_brackets(why);
    format!(
        "cannot write: PostgreSQL at {server} is not reachable; nothing was written; reads go \
         on{why}"
    )
}

fn not_fresh(server: &str, why: &str) -> String {
    let why = in_brackets(why);
    format!(
        "PostgreSQL at {server} is not reachable, so nobody knows whether this replica is fresh; \
         reads without `--fresh` go on{why}"
    )
}

fn read_only(path: &impl fmt::Display, url: &str) -> String {
    format!(
        "`{path}` is a replica of {url}, and read-only without it: write with `--shared {url}`, or \
         make it a memory of its own with `remindb space leave --db {path}`"
    )
}

fn in_brackets(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}

fn other_schema(found: i64, own: i64) -> String {
    match own < found {
        true => format!(
            "the space has schema {found}, newer than {own}, the newest this build knows; update \
             the program; reads go on"
        ),
        false => format!(
            "the space has schema {found}, and this build writes {own}; once every machine has \
             this program, `remindb space image` brings the space up to date"
        ),
    }
}

impl std::error::Error for SharedError {}
