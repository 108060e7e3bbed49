//! Advice of tools, as people at a terminal can follow it.

use std::path::Path;

/// The command of each tool that an advice names, and the flag of each argument.
const COMMANDS: &[(&str, &str)] = &[
    ("`force`", "`--force`"),
    ("MemoryCompile", "`remindb compile`"),
    ("MemoryFetch", "`remindb fetch`"),
    ("MemoryReview", "`remindb review`"),
    ("MemorySearch", "`remindb search`"),
    ("MemoryTree", "`remindb tree`"),
    ("MemoryWrite", "`remindb write`"),
];

/// Names commands instead of tools.
pub(super) fn with_commands(advice: &str) -> String {
    COMMANDS.iter().fold(advice.to_owned(), |text, (tool, command)| text.replace(tool, command))
}

/// Returns the flag that names the same database in another command.
pub(super) fn flag_of(db: Option<&Path>) -> String {
    db.map(|it| format!(" --db '{}'", it.display())).unwrap_or_default()
}
