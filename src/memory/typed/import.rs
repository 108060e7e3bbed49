//! Imports memories from lines: one snapshot, in which the newer of two memories of one id wins.
//!
//! A line that cannot be imported costs itself, and is reported with the reason. Importing the same
//! lines again changes nothing.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::jsonl::{MemoryLine, NumberedLine};
use super::{MemoryError, MemoryInsert, field_update_and_diff, fields_of, insert, redacted};
use crate::memory::Memory;
use crate::memory::dry_run::WriteOrDryRun;
use crate::model::clock::UnixMillis;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::NodeType;
use crate::query::render::to_one_line;
use crate::store::reader::AccessStats;
use crate::store::{Batch, FIELDS, NodeRecord, OptionalColumnValue, UnplacedNodeData};
use crate::text::{self, tokens};

/// Lines between two reports of progress.
const STEP_LINES: usize = 100;

/// Characters of a reason, at most.
const REASON_CHARS_MAX: usize = 300;

/// Holds what an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryImportReport {
    pub(crate) n_added: usize,
    pub(crate) n_updated: usize,
    /// Lines whose memory is there already, as new or newer.
    pub(crate) n_unchanged: usize,
    /// Secrets that became markers.
    pub(crate) n_secrets: usize,
    /// `FILE:LINE: reason` of each line that was not imported, in order.
    pub(crate) refused: Vec<String>,
    pub(crate) snapshot: Option<i64>,
}

/// The effect of a line.
enum LineEffect {
    Added,
    Updated,
    Unchanged,
}

impl Memory {
    /// Imports lines in one snapshot with that message; `progress` gets the lines done and all.
    pub(crate) fn import_memories(
        &self,
        lines: Vec<NumberedLine<'_>>,
        message: &str,
        mode: WriteOrDryRun,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<MemoryImportReport, MemoryError> {
        let workspace = self.workspace();
        let n_secrets = Cell::new(0);
        let scrub = |text: String| {
            let scrubbed = workspace.redactor.scrub(&text);
            n_secrets.set(n_secrets.get() + scrubbed.hits.len());
            scrubbed.text.into_owned()
        };
        let now = self.clock.now();
        let n_lines = lines.len();
        let (mut import, snapshot) = self.write_or_count(mode, "", now, |batch| {
            let mut import = MemoryImportReport::default();
            let mut merging = MemoryMerger {
                now,
                core_max: self.memory_settings().limits().core_max,
                n_core: None,
            };
            for (nth, line) in lines.into_iter().enumerate() {
                let NumberedLine { file, number, memory } = line;
                let merged = memory.map_err(MemoryError::invalid);
                let merged = merged.map(|it| it.redacted(&scrub));
                match merged.and_then(|it| merging.merge(batch, &it)) {
                    Ok(LineEffect::Added) => import.n_added += 1,
                    Ok(LineEffect::Updated) => import.n_updated += 1,
                    Ok(LineEffect::Unchanged) => import.n_unchanged += 1,
                    Err(error) if error.code.is_outside() => return Err(error),
                    Err(error) => {
                        // A name in it may be anything.
                        let why = text::truncate_chars(&error.message, REASON_CHARS_MAX);
                        let why = workspace.redactor.scrub(&why).text.into_owned();
                        import.refused.push(format!("{file}:{number}: {}", to_one_line(&why)));
                    }
                }
                batch.flush_if_large()?;
                if nth % STEP_LINES == 0 {
                    progress(nth as u64, n_lines as u64);
                }
            }
            batch.set_message(workspace.redactor.scrub(message).text.into_owned());
            Ok(import)
        })?;
        import.n_secrets = n_secrets.get();
        import.snapshot = snapshot;
        Ok(import)
    }
}

impl MemoryLine {
    fn redacted(self, scrub: &impl Fn(String) -> String) -> MemoryLine {
        MemoryLine { content: scrub(self.content), changes: redacted(self.changes, scrub), ..self }
    }

    fn is_archived(&self) -> bool {
        self.changes.archived == Some(true)
    }

    /// Returns the fields of a memory that has these values alone.
    fn fields(&self, created_at: UnixMillis, updated_at: UnixMillis) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("uuid".to_owned(), self.id.as_str().into());
        fields.insert("created_at".to_owned(), created_at.0.into());
        fields.insert("updated_at".to_owned(), updated_at.0.into());
        field_update_and_diff::apply(&self.changes, self.memory_type, &mut fields, updated_at);
        fields
    }

    /// Returns the accesses to note; none is noted of a memory that was never read.
    fn access(&self, created_at: UnixMillis) -> AccessStats {
        let accessed_at = self.accessed_at.filter(|it| *it != created_at || 0 < self.access_count);
        let accessed_at = accessed_at.or((0 < self.access_count).then_some(created_at));
        AccessStats { accessed_at: accessed_at.map(|it| it.0), access_count: self.access_count }
    }
}

#[cfg(any(test, fuzzing))]
impl NumberedLine<'_> {
    /// Returns the line that an export would write of it alone, as of the beginning of time.
    pub(crate) fn written(&self) -> Result<String, String> {
        let line = self.memory.as_ref().map_err(Clone::clone)?;
        let created_at = line.created_at.or(line.updated_at).unwrap_or(UnixMillis(0));
        let updated_at = line.updated_at.unwrap_or(created_at);
        let fields = CanonicalFields::new(line.fields(created_at, updated_at))
            .map_err(|it| it.to_string())?;
        let (of_type, access) = (line.memory_type, line.access(created_at));
        let memory = super::TypedMemory::new(of_type, &line.content, &fields, access);
        Ok(memory.to_json().to_string())
    }
}

/// The memories that lines are merged into.
struct MemoryMerger {
    now: UnixMillis,
    core_max: u64,
    /// Core memories that are not archived, once they were counted.
    n_core: Option<u64>,
}

impl MemoryMerger {
    fn merge(
        &mut self,
        batch: &mut Batch<'_>,
        line: &MemoryLine,
    ) -> Result<LineEffect, MemoryError> {
        let Some(node) = batch.find_typed(&line.id)? else {
            self.add(batch, line)?;
            return Ok(LineEffect::Added);
        };
        if node.node_type != line.memory_type {
            let (id, of_type, asked) = (&line.id, node.node_type, line.memory_type);
            let what = format!("`type` cannot change: memory `{id}` is a {of_type}, not a {asked}");
            return Err(MemoryError::invalid(what));
        }
        let before = fields_of(&node)?;
        let time = |key: &str| before.get(key).and_then(Value::as_i64).map(UnixMillis);
        let known = time("updated_at").or(time("created_at"));
        let Some(updated_at) = line.updated_at.or(line.created_at).filter(|it| known < Some(*it))
        else {
            return Ok(LineEffect::Unchanged);
        };
        let created_at = line.created_at.or(time("created_at")).unwrap_or(updated_at);
        let fields = super::canonical(line.fields(created_at, updated_at))?;
        let was_counted = before.get("archived") != Some(&Value::Bool(true));
        self.count_core(batch, line, was_counted)?;
        replace(batch, &node, line, &fields)?;
        let access = line.access(created_at);
        if batch.access_counts_of(node.key)? != access {
            batch.set_access_counts(node.key, access)?;
        }
        Ok(LineEffect::Updated)
    }

    fn add(&mut self, batch: &mut Batch<'_>, line: &MemoryLine) -> Result<(), MemoryError> {
        let created_at = line.created_at.or(line.updated_at).unwrap_or(self.now);
        let updated_at = line.updated_at.unwrap_or(created_at);
        let fields = super::canonical(line.fields(created_at, updated_at))?;
        self.count_core(batch, line, false)?;
        let MemoryLine { memory_type, content, .. } = line;
        let draft = MemoryInsert {
            memory_type: *memory_type,
            content,
            token_count: tokens::count(content),
            fields: fields.into_object(),
        };
        let (_, key, _) = insert(batch, &draft, created_at)?;
        let access = line.access(created_at);
        if access != AccessStats::default() {
            batch.set_access_counts(key, access)?;
        }
        Ok(())
    }

    /// Counts a core memory that a line adds or takes away; one beyond the limit is refused.
    fn count_core(
        &mut self,
        batch: &Batch<'_>,
        line: &MemoryLine,
        was_counted: bool,
    ) -> Result<(), MemoryError> {
        let counts = !line.is_archived();
        if line.memory_type != NodeType::Core || counts == was_counted {
            return Ok(());
        }
        let n_core = match self.n_core {
            Some(n_core) => n_core,
            None => batch.n_unarchived(NodeType::Core)?,
        };
        if counts && self.core_max <= n_core {
            self.n_core = Some(n_core);
            return Err(super::too_many_core(self.core_max));
        }
        self.n_core = Some(if counts { n_core + 1 } else { n_core.saturating_sub(1) });
        Ok(())
    }
}

/// Gives a memory the text and the fields of a line.
fn replace(
    batch: &mut Batch<'_>,
    node: &NodeRecord,
    line: &MemoryLine,
    fields: &CanonicalFields,
) -> Result<(), MemoryError> {
    let content = line.content.as_str();
    let is_same_text = content == node.content;
    let label = if is_same_text { node.label.clone() } else { text::label_of_text(content) };
    let token_count = if is_same_text { node.token_count } else { tokens::count(content) };
    let attributes =
        node.attributes.with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string())));
    let data = UnplacedNodeData { label: &label, content, token_count, attributes, ..node.data() };
    Ok(batch.set_agent_text(node, &data)?)
}
