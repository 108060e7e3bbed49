//! The tables of tools, and sets of them: names, arguments and effects. The lists stay small, since
//! every session pays for them.

pub(crate) mod compile;
mod knowledge;
mod memories;
pub(crate) mod read_tools;
pub(crate) mod relate;
mod remind_compatible_tools;
pub(super) mod replaced_secrets;
pub(crate) mod write_tools;

use std::fmt;

use super::{ToolRunner, confirmation, prompts};
use crate::mcp::{ArgSpec, Prompt, Tool, ToolEffect};
use crate::model::clock::UnixMillis;
use crate::model::links::reference::{WEIGHT_DEFAULT, WEIGHT_MAX};
use crate::model::next_step_advice::CallableTools;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{IMPORTANCES, STATUSES};
use crate::query::{self, OutputFormat};

/// Told to a client's model where tools of notes are offered.
const INSTRUCTIONS: &str = "Long-term memory: the user's notes as a tree of nodes, each with a \
                            stable 11-character id. Look here before reading files. MemorySearch \
                            finds nodes; MemoryTree shows the outline; MemoryFetch reads a node \
                            and what is around it; MemoryFetchBatch reads several. Give `budget` \
                            (tokens): replies never exceed it and say what they left out. What you \
                            read gets warmer and ranks higher. MemoryWrite remembers what you \
                            learn, at the node it belongs to.";

/// Told where tools of knowledge are offered beside those of notes.
const INSTRUCTIONS_WITH_KNOWLEDGE: &str = concat!(
    "Long-term memory: the user's notes as a tree of nodes, each with a stable 11-character id, ",
    "and what agents learned. Look here before reading files. MemorySearch finds nodes; ",
    "MemoryTree shows the outline; MemoryFetch reads a node and what is around it; ",
    "MemoryFetchBatch reads several. Give `budget` (tokens): replies never exceed it and say what ",
    "they left out. What you read gets warmer and ranks higher. MemoryRecall says what is known ",
    "of a question, a thing or a topic. MemoryRemember keeps what you learn; MemoryWrite is for ",
    "the notes themselves.",
);

/// The names of a node's id in any tool; each takes them all.
const NODE_NAMES: &[&str] = &["anchor", "id", "node", "node_id", "root", "source_id"];

const SOURCE_ID: ArgSpec = ArgSpec::text("source_id", "Id of the node that refers")
    .required()
    .also(&["anchor", "from", "id", "node", "node_id", "root", "source"]);
const TARGET_ID: ArgSpec = ArgSpec::text("target_id", "Id of the target").also(&["target", "to"]);
const TARGET_LABEL: ArgSpec = ArgSpec::text("target_label", "Or its name, as in `[[…]]`");
const TARGET_SOURCE: ArgSpec = ArgSpec::text("target_source", "File that has the name");
const NODE_ID: ArgSpec = ArgSpec::text("node_id", "").required().also(NODE_NAMES);
const ANCHOR: ArgSpec = ArgSpec::text("anchor", "").required().also(NODE_NAMES);

const BUDGET: ArgSpec = ArgSpec::integer("budget", "Tokens")
    .also(&["max_tokens", "token_budget"])
    .mistaken_for(&["k", "limit", "max_results", "n"]);
/// The most hits of a search. It is not listed, since a budget is the better limit.
const LIMIT: ArgSpec =
    ArgSpec::integer("limit", "Most hits").also(&["k", "max_results", "n", "top_k"]).unlisted();

const ARCHIVED: ArgSpec = ArgSpec::flag("archived", "");

/// Whether texts tell when they last changed.
const DATES: ArgSpec = ArgSpec::flag("dates", "").also(&["show_dates", "with_dates"]);

const CURSOR: ArgSpec = ArgSpec::text("cursor", "Where the last page ended");

/// The tools that a memory needs at least: finding, reading, writing, catching up.
const CORE: &[&str] = &[
    "MemoryDelta",
    "MemoryFetch",
    "MemoryFetchBatch",
    "MemorySearch",
    "MemoryStats",
    "MemoryTree",
    "MemoryWrite",
];

/// A named set of tools: a row of [`SETS`].
struct NamedToolSet {
    /// The name that `--tools` takes.
    name: &'static str,
    tables: &'static [&'static [Tool<ToolRunner>]],
    /// The names of its tools; `None` for the whole tables.
    only: Option<&'static [&'static str]>,
    /// The prompts whose tools it has.
    prompts: &'static [Prompt<prompts::PromptFn>],
    instructions: &'static str,
}

/// Every set, in the order in which errors name them; the first is offered by default.
const SETS: [NamedToolSet; 4] = [
    NamedToolSet {
        name: "all",
        tables: &[TOOLS, knowledge::TOOLS],
        only: None,
        prompts: prompts::PROMPTS,
        instructions: INSTRUCTIONS_WITH_KNOWLEDGE,
    },
    NamedToolSet {
        name: "core",
        tables: &[TOOLS],
        only: Some(CORE),
        prompts: prompts::READING,
        instructions: INSTRUCTIONS,
    },
    NamedToolSet {
        name: "memory",
        tables: &[memories::TOOLS],
        only: None,
        prompts: &[],
        instructions: memories::INSTRUCTIONS,
    },
    NamedToolSet {
        name: "remind",
        tables: &[remind_compatible_tools::TOOLS],
        only: None,
        prompts: &[],
        instructions: remind_compatible_tools::INSTRUCTIONS,
    },
];

/// Selects the tools that a server offers: fewer cost fewer tokens in every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolSelection {
    /// Whether each of [`SETS`] is offered; at least one is.
    is_offered: [bool; SETS.len()],
}

impl Default for ToolSelection {
    fn default() -> ToolSelection {
        let mut is_offered = [false; SETS.len()];
        is_offered[0] = true;
        ToolSelection { is_offered }
    }
}

impl ToolSelection {
    /// Parses the names of sets, with commas between them.
    ///
    /// # Errors
    ///
    /// A name is unknown; the text names those that are known.
    pub(crate) fn parse(names: &str) -> Result<ToolSelection, String> {
        let mut is_offered = [false; SETS.len()];
        for name in names.split(',') {
            let Some(idx) = SETS.iter().position(|it| it.name == name) else {
                let known = SETS.map(|it| format!("`{}`", it.name)).join(", ");
                return Err(format!("must be {known}, or several with commas, not `{name}`"));
            };
            is_offered[idx] = true;
        }
        Ok(ToolSelection { is_offered })
    }

    fn sets(self) -> impl Iterator<Item = &'static NamedToolSet> {
        SETS.iter().zip(self.is_offered).filter(|(_, is_offered)| *is_offered).map(|(it, _)| it)
    }

    /// Returns the prompts whose tools it has.
    pub(crate) fn prompts(self) -> &'static [Prompt<prompts::PromptFn>] {
        self.sets().map(|it| it.prompts).max_by_key(|it| it.len()).unwrap_or_default()
    }

    /// Returns what a client's model is told of the server.
    pub(crate) fn instructions(self) -> &'static str {
        self.sets().next().map_or(INSTRUCTIONS, |it| it.instructions)
    }

    /// Returns the tools that advice may name, by the names under which they are offered.
    pub(crate) fn callable(self) -> CallableTools {
        let offered = self.tools(OutputFormat::Text);
        let has = |name: &str| offered.iter().any(|it| it.name == name);
        let counterpart = |name: &str| {
            let mut known = remind_compatible_tools::COUNTERPARTS.iter();
            known.find(|it| it.0 == name && has(it.1)).map(|it| it.2)
        };
        let called = |name| if has(name) { Some(name) } else { counterpart(name) };
        let all = [TOOLS, knowledge::TOOLS].into_iter().flatten();
        CallableTools::of(all.map(|it| (it.name, called(it.name))))
    }

    /// Returns its rows of the tables by name, with schemas where results hold more than text.
    pub(crate) fn tools(self, output: OutputFormat) -> Vec<Tool<ToolRunner>> {
        let row = |it: &Tool<ToolRunner>| match output {
            OutputFormat::Text => Tool { output: None, ..*it },
            OutputFormat::Structured => *it,
        };
        let mut tools: Vec<Tool<ToolRunner>> = Vec::new();
        for set in self.sets() {
            let is_in = |it: &&Tool<ToolRunner>| set.only.is_none_or(|of| of.contains(&it.name));
            tools.extend(set.tables.iter().copied().flatten().filter(is_in).map(row));
        }
        tools.sort_unstable_by_key(|it| it.name);
        tools.dedup_by_key(|it| it.name);
        tools
    }
}

/// Returns the tool of that name of the default set.
pub(super) fn named(name: &str) -> Option<&'static Tool<ToolRunner>> {
    SETS[0].tables.iter().copied().flatten().find(|it| it.name == name)
}

impl fmt::Display for ToolSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sets().map(|it| it.name).collect::<Vec<_>>().join(","))
    }
}

/// The tools of notes, in the order of their names.
pub(crate) const TOOLS: &[Tool<ToolRunner>] = &[
    Tool {
        name: "MemoryCompile",
        description: "Reads a file or folder of notes again after you changed it, in one \
                      snapshot: {path: 'notes/valves.md'}. Unchanged files cost nothing.",
        args: &[
            ArgSpec::text("path", "File or folder; relative to the source folder").required(),
            ArgSpec::text("message", "Describes the snapshot; default `compile:PATH`"),
        ],
        output: Some(compile::output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Compile(compile::compile),
    },
    Tool {
        name: "MemoryDelta",
        description: "Returns net changes since you last looked, newest first; `detail`: the \
                      texts: {since_snapshot: 41}",
        args: &[
            ArgSpec::integer("since_snapshot", "Default 0").also(&[
                "since",
                "snapshot",
                "snapshot_id",
            ]),
            ArgSpec::flag("detail", ""),
            BUDGET,
            CURSOR,
        ],
        output: Some(read_tools::changes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::delta),
    },
    Tool {
        name: "MemoryDiff",
        description: "Returns unified diffs of what changed after one snapshot up to another, \
                      once MemoryDelta named them: {from_snapshot_id: 41, to_snapshot_id: 44}",
        args: &[
            ArgSpec::integer("from_snapshot_id", "Exclusive; 0: the beginning")
                .required()
                .also(&["from", "from_snapshot"]),
            ArgSpec::integer("to_snapshot_id", "Inclusive").required().also(&["to", "to_snapshot"]),
            BUDGET,
            CURSOR,
        ],
        output: Some(read_tools::changes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::diff),
    },
    Tool {
        name: "MemoryFetch",
        description: "Returns a node's text, after as much around it as fits: {anchor: 'ID'}",
        args: &[ANCHOR, BUDGET, ArgSpec::integer("depth", "Levels; default 32"), DATES],
        output: Some(read_tools::nodes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::fetch),
    },
    Tool {
        name: "MemoryFetchBatch",
        description: "Returns the texts of several hits at once, in the order asked: {node_ids: \
                      ['ID']}",
        args: &[
            ArgSpec::texts("node_ids", "", 1, 256).required().also(&[
                "anchor",
                "anchors",
                "id",
                "ids",
                "node",
                "node_id",
                "nodes",
                "root",
                "source_id",
            ]),
            BUDGET,
            DATES,
        ],
        output: Some(read_tools::nodes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::fetch_batch),
    },
    Tool {
        name: "MemoryForget",
        description: "Removes a node that is wrong or no longer wanted: {node_id: 'ID'}. One \
                      from a file stays forgotten until its block of the file changes.",
        args: &[
            NODE_ID,
            ArgSpec::choice(
                "mode",
                "If it has children: strict refuses, cascade removes all of them, reparent puts \
                 them in its place",
                &["strict", "cascade", "reparent"],
            )
            .or_text("strict"),
        ],
        output: Some(write_tools::forgotten_output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Confirmed(confirmation::forget, write_tools::forget),
    },
    Tool {
        name: "MemoryHistory",
        description: "Returns the changes of a node, newest first, to see what it said before; \
                      of a forgotten one, too: {anchor: 'ID'}",
        args: &[
            ANCHOR,
            ArgSpec::integer("depth", "Changes; default 10").also(&["limit", "n"]),
            BUDGET,
            CURSOR,
        ],
        output: Some(read_tools::history_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::history),
    },
    Tool {
        name: "MemoryPin",
        description: "Keeps a node that always matters from cooling: {node_id: 'ID'}",
        args: &[NODE_ID, ArgSpec::number("temperature", "Sets it; default as it is", 0.0, 1.0)],
        output: Some(write_tools::pinned_output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(write_tools::pin),
    },
    Tool {
        name: "MemoryRelate",
        description: "Makes an edge between nodes that belong together, or sets its weight: \
                      {source_id: 'ID', target_label: 'Pump'}. It waits if the target is not \
                      there yet.",
        args: &[
            SOURCE_ID,
            TARGET_ID,
            TARGET_LABEL,
            TARGET_SOURCE,
            ArgSpec::number("weight", "Strength", 0.0, WEIGHT_MAX).or_number(WEIGHT_DEFAULT),
        ],
        output: Some(relate::output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(relate::relate),
    },
    Tool {
        name: "MemoryRelated",
        description: "Returns the nodes that references and edges connect with a hit, heaviest \
                      first: {anchor: 'ID'}",
        args: &[
            ANCHOR,
            ArgSpec::choice("direction", "Who refers to whom", query::Direction::NAMES)
                .or_text("both"),
            ArgSpec::integer("depth", "Hops, 1 to 5; default 1"),
            BUDGET,
            ArgSpec::number("weight_min", "", 0.0, WEIGHT_MAX).or_number(0.0),
            ARCHIVED,
        ],
        output: Some(read_tools::nodes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::related),
    },
    Tool {
        name: "MemoryRollback",
        description: "Makes the state of an earlier snapshot the present after a mistake, in one \
                      new snapshot: {snapshot_id: 41}. `drop_after` deletes what came after it \
                      for good.",
        args: &[
            ArgSpec::integer("snapshot_id", "Snapshot").required().also(&[
                "id",
                "snapshot",
                "to",
                "to_snapshot_id",
            ]),
            ArgSpec::flag("drop_after", "Delete later snapshots"),
        ],
        output: Some(write_tools::rollback_output),
        effect: ToolEffect::Destroys,
        run: ToolRunner::Confirmed(confirmation::rollback, write_tools::rollback),
    },
    Tool {
        name: "MemorySearch",
        description: "Returns the nodes that words find, best first. Use it before you answer or \
                      read files: {query: 'valve pressure', budget: 800}",
        args: &[
            ArgSpec::text("query", "Or an FTS5 expression")
                .required()
                .also(&["q", "text", "words"]),
            BUDGET,
            ArgSpec::choice("detail", "", &["label", "snippet", "full"]).or_text("label"),
            ArgSpec::choice("type", "", NodeType::SEARCHED).also(&["node_type"]),
            ArgSpec::texts("tags", "All of them", 0, usize::MAX),
            ArgSpec::choice("status", "", STATUSES),
            ArgSpec::choice("importance", "", IMPORTANCES),
            ArgSpec::time("since", "", UnixMillis::parse_rfc3339),
            ArgSpec::time("until", "", UnixMillis::parse_rfc3339_end),
            ARCHIVED,
            DATES,
            LIMIT,
        ],
        output: Some(read_tools::hits_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::search),
    },
    Tool {
        name: "MemoryStats",
        description: "Returns counts of nodes and snapshots: {}",
        args: &[],
        output: Some(read_tools::stats_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::stats),
    },
    Tool {
        name: "MemorySummarize",
        description: "Replaces a text that is too long by your summary and warms it: {node_id: \
                      'ID', summary: 'Calibrated with 41.7 kPa.'}. The text before stays in the \
                      history.",
        args: &[
            NODE_ID,
            ArgSpec::text("summary", "The new text")
                .required()
                .also(&["content", "payload", "text"]),
            ArgSpec::number("temperature", "Sets it; default 0.5", 0.0, 1.0),
        ],
        output: Some(write_tools::summarized_output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(write_tools::summarize),
    },
    Tool {
        name: "MemoryTree",
        description: "Returns the outline, when you know no word to search: {depth: 2}. Folds \
                      the coldest to fit.",
        args: &[
            ArgSpec::text("root", "Id; default all").also(NODE_NAMES),
            ArgSpec::integer("depth", "Levels; default 5"),
            BUDGET,
            ARCHIVED,
        ],
        output: Some(read_tools::nodes_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Read(read_tools::tree),
    },
    Tool {
        name: "MemoryUnpin",
        description: "Lets a node cool again that MemoryPin kept: {node_id: 'ID'}",
        args: &[NODE_ID],
        output: Some(write_tools::pinned_output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(write_tools::unpin),
    },
    Tool {
        name: "MemoryUnrelate",
        description: "Removes an edge that MemoryRelate made by mistake: {source_id: 'ID', \
                      target_label: 'Pump'}",
        args: &[SOURCE_ID, TARGET_ID, TARGET_LABEL, TARGET_SOURCE],
        output: Some(relate::output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(relate::unrelate),
    },
    Tool {
        name: "MemoryWrite",
        description: "Writes Markdown, once something is decided or corrected: {payload: 'The \
                      pump hums at 50 Hz.', anchor: 'ID'}. Without an anchor: a new root. At a \
                      heading: its last children. At other nodes: the new text, until the file's \
                      block changes.",
        args: &[
            ArgSpec::text("payload", "").required().also(&["content", "markdown", "text"]),
            ArgSpec::text("anchor", "").also(NODE_NAMES),
            ArgSpec::choice("mode", "", &["append", "replace"]),
        ],
        output: Some(write_tools::written_output),
        effect: ToolEffect::Edits,
        run: ToolRunner::Write(write_tools::write),
    },
];
