//! Advice of tools, as people at a terminal can follow it.

use std::path::Path;

use crate::model::next_step_advice::{CallableTools, ToolWithCallName};

/// The command of each tool that an advice names.
const COMMANDS: [ToolWithCallName; 13] = [
    ("MemoryApply", Some("`remindb apply`")),
    ("MemoryCompile", Some("`remindb compile`")),
    ("MemoryDelta", Some("`remindb delta`")),
    ("MemoryDiff", Some("`remindb diff`")),
    ("MemoryFetch", Some("`remindb fetch`")),
    ("MemoryForget", Some("`remindb forget`")),
    ("MemoryRelate", Some("`remindb relate`")),
    ("MemoryRelated", Some("`remindb related`")),
    ("MemoryReview", Some("`remindb review`")),
    ("MemorySearch", Some("`remindb search`")),
    ("MemorySummarize", Some("`remindb summarize`")),
    ("MemoryTree", Some("`remindb tree`")),
    ("MemoryWrite", Some("`remindb write`")),
];

/// The flag of each argument that an advice names.
const FLAGS: [(&str, &str); 2] = [("`budget`", "`--budget`"), ("`force`", "`--force`")];

/// Names commands and flags instead of tools and arguments.
pub(super) fn with_commands(advice: &str) -> String {
    let advice = commands().advise(advice);
    FLAGS.iter().fold(advice, |text, (argument, flag)| text.replace(argument, flag))
}

/// Names commands instead of tools in the advice of an error.
pub(super) fn error_with_commands(message: &str) -> String {
    commands().advise_error(message)
}

/// Returns the tools by the commands that do the same.
pub(super) fn commands() -> CallableTools {
    CallableTools::of(COMMANDS)
}

/// Returns the flag that names the same database in another command.
pub(super) fn flag_of(db: Option<&Path>) -> String {
    db.map(|it| format!(" --db '{}'", it.display())).unwrap_or_default()
}
