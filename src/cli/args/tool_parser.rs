//! The parser of the commands that are tools: each argument of a tool is a flag or a value.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;
use serde_json::{Map, Value as Json};

use super::UsageError;
use super::command::{ArgumentFromStdin, Command, ToolArgs};
use super::subcommand_parsers::{ParsedCommand, otherwise};
use crate::surface::tool_named;

/// A command that is a tool.
pub(crate) struct ToolCommandSpec {
    pub(crate) name: &'static str,
    pub(crate) tool: &'static str,
    /// The arguments that are values, in their order; none of them is a flag.
    pub(crate) values: &'static [&'static str],
    /// How many of them are needed, and how a message names them.
    needs: (usize, &'static str),
    rest: ExtraValues,
}

/// The meaning of more values than arguments.
enum ExtraValues {
    Refused,
    /// They are further words of the last one; `-` alone is standard input.
    Words,
    /// They are ids, which this tool takes.
    Ids(&'static str),
}

const NODE: &str = "the id of a node, or the path of a file";

/// Every command that is a tool.
pub(crate) const TOOL_COMMANDS: &[ToolCommandSpec] = &[
    ToolCommandSpec::new("tree", "MemoryTree", &["root"], (0, "")),
    ToolCommandSpec {
        rest: ExtraValues::Ids("MemoryFetchBatch"),
        ..ToolCommandSpec::new("fetch", "MemoryFetch", &["anchor"], (1, NODE))
    },
    ToolCommandSpec::new("related", "MemoryRelated", &["anchor"], (1, NODE)),
    ToolCommandSpec::new("history", "MemoryHistory", &["anchor"], (1, NODE)),
    ToolCommandSpec::new("delta", "MemoryDelta", &["since_snapshot"], (0, "")),
    ToolCommandSpec::new(
        "diff",
        "MemoryDiff",
        &["from_snapshot_id", "to_snapshot_id"],
        (2, "two snapshots: `diff 1 2`"),
    ),
    ToolCommandSpec::new("stats", "MemoryStats", &[], (0, "")),
    ToolCommandSpec {
        rest: ExtraValues::Words,
        ..ToolCommandSpec::new(
            "write",
            "MemoryWrite",
            &["payload"],
            (1, "the text to write, or `-` for standard input"),
        )
    },
    ToolCommandSpec {
        rest: ExtraValues::Words,
        ..ToolCommandSpec::new(
            "summarize",
            "MemorySummarize",
            &["node_id", "summary"],
            (2, "a node and its new text, or `-` for standard input"),
        )
    },
    ToolCommandSpec::new("forget", "MemoryForget", &["node_id"], (1, NODE)),
    ToolCommandSpec::new("pin", "MemoryPin", &["node_id"], (1, NODE)),
    ToolCommandSpec::new("unpin", "MemoryUnpin", &["node_id"], (1, NODE)),
    ToolCommandSpec::new("relate", "MemoryRelate", &["source_id", "target_id"], (1, NODE)),
    ToolCommandSpec::new("unrelate", "MemoryUnrelate", &["source_id", "target_id"], (1, NODE)),
    ToolCommandSpec::new(
        "rollback",
        "MemoryRollback",
        &["snapshot_id"],
        (1, "the snapshot to go back to; `remindb delta` shows them"),
    ),
];

impl ToolCommandSpec {
    const fn new(
        name: &'static str,
        tool: &'static str,
        values: &'static [&'static str],
        needs: (usize, &'static str),
    ) -> ToolCommandSpec {
        ToolCommandSpec { name, tool, values, needs, rest: ExtraValues::Refused }
    }

    /// Returns the arguments that are flags, each with whether it takes a value.
    pub(crate) fn flags(&self) -> Vec<(&'static str, bool)> {
        let args = tool_named(self.tool).map_or(&[][..], |it| it.args);
        let flags = args.iter().filter(|it| it.is_listed() && !self.values.contains(&it.name()));
        flags.map(|it| (it.name(), !it.is_switch())).collect()
    }
}

/// Parses the arguments of the command of that name.
pub(super) fn parse(name: &str, parser: &mut Parser, mut db: Option<PathBuf>) -> ParsedCommand {
    let Some(command) = TOOL_COMMANDS.iter().find(|it| it.name == name) else {
        return Err(UsageError(format!("no command `{name}`")));
    };
    let flags = command.flags();
    let (mut arguments, mut values, mut is_json) = (Map::new(), Vec::new(), false);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => db = Some(parser.value()?.into()),
            Long("json") => is_json = true,
            Long(flag) => {
                let named = flag.replace('-', "_");
                match flags.iter().find(|(it, _)| *it == named && !flag.contains('_')) {
                    Some((name, true)) => {
                        let value = parser.value()?.string()?;
                        arguments.insert((*name).to_owned(), value.into());
                    }
                    Some((name, false)) => drop(arguments.insert((*name).to_owned(), true.into())),
                    None => return otherwise(command.name, arg),
                }
            }
            Value(value) => values.push(value.string()?),
            other => return otherwise(command.name, other),
        }
    }
    let mut args =
        ToolArgs { tool: command.tool, arguments, input: ArgumentFromStdin::None, db, is_json };
    args.take(command, values)?;
    Ok(Command::Tool(args))
}

impl ToolArgs {
    /// Takes the values of a command.
    fn take(
        &mut self,
        command: &ToolCommandSpec,
        mut values: Vec<String>,
    ) -> Result<(), UsageError> {
        let (n_needed, what) = command.needs;
        let name = command.name;
        let n_values = command.values.len();
        if values.len() < n_needed || values.iter().take(n_needed).any(|it| it.trim().is_empty()) {
            return Err(UsageError(format!("`{name}` needs {what}")));
        }
        if n_values < values.len() {
            match command.rest {
                ExtraValues::Refused => {
                    return Err(UsageError(format!(
                        "`{name}` does not take `{}`",
                        values[n_values]
                    )));
                }
                ExtraValues::Words => {
                    let words = values.split_off(n_values - 1).join(" ");
                    values.push(words);
                }
                ExtraValues::Ids(tool) => {
                    self.tool = tool;
                    self.arguments.insert("node_ids".to_owned(), values.into());
                    return Ok(());
                }
            }
        }
        for (value, argument) in values.into_iter().zip(command.values) {
            let is_last = command.values.last() == Some(argument);
            if is_last && value == "-" && matches!(command.rest, ExtraValues::Words) {
                self.input = ArgumentFromStdin::Stdin(argument);
            } else {
                self.arguments.insert((*argument).to_owned(), Json::from(value));
            }
        }
        Ok(())
    }
}
