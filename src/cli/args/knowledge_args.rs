//! The arguments of the commands about knowledge.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// A command about knowledge, with the arguments of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnowledgeArgs {
    pub(crate) task: KnowledgeCommand,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) input: KnowledgeTextSource,
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_json: bool,
}

/// The command about knowledge that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnowledgeCommand {
    Recall,
    Review,
    Apply,
    Consolidate,
    Undo,
    Ingest,
    Conflicts,
    Topics,
    Entities,
}

/// The place where the text of a command comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum KnowledgeTextSource {
    #[default]
    None,
    Stdin,
    File(PathBuf),
}
