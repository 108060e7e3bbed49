//! Edits by an agent: write, summarize, forget, pin. Each call is one transaction, and one
//! snapshot if it changed a node.
//!
//! Input is redacted before anything is derived from it, as files are.

mod file_write_back;
mod forgetting;
mod forgotten_children;
mod repeated_writes;
mod write_report;

use std::borrow::Cow;

use file_write_back::WriteBackAttempt;
pub(super) use forgetting::forget_all;
use forgetting::{forget_alone, forget_with_knowledge};
use forgotten_children::{refuse, refuse_topic, take_place};
use repeated_writes::already;
use serde_json::{Value, json};
use write_report::{WrittenNode, report_written};

use super::knowledge::{n_episodes_of, settle_statements, why_not_written};
use super::typed::MemoryError;
use super::{Answer, Error, Memory};
use crate::ingest::parse::Syntax;
use crate::memory::compile;
use crate::memory::compile::agent_edit_write_back::NodeEditInFile;
use crate::model::identity::NodeId;
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
use crate::model::typed_node_field_schemas::{TypedNodeSchema, check_marked_text};
use crate::query::{self, NearDuplicateQuery};
use crate::store::{
    Batch, CommitReport, LANG, NodeRecord, NodeRowId, OptionalColumnValue, UnplacedNodeData,
};
use crate::text::tokens;
use crate::text::{self, LABEL_CHARS_MAX};

/// Bytes of a text that one call may write; larger ones belong into a file.
const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// Nodes that one call may write, since others wait for all of them; about half a second.
const NODES_MAX: usize = 20_000;

/// Written nodes that are compared with what is there; a longer text is a document.
const COMPARED_MAX: usize = 8;

/// The effect of writing at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AppendOrReplaceMode {
    /// Appends below a heading or a container; replaces the text of any other node.
    #[default]
    Auto,
    /// Appends the text as the node's last children.
    Append,
    /// Replaces the node's text; its children stay.
    Replace,
}

/// The effect of forgetting a node on its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForgetChildrenMode {
    /// A node with children is not forgotten.
    #[default]
    Strict,
    /// The whole subtree is forgotten.
    Cascade,
    /// The children take the node's place.
    Reparent,
}

impl ForgetChildrenMode {
    /// Returns the name in the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            ForgetChildrenMode::Strict => "strict",
            ForgetChildrenMode::Cascade => "cascade",
            ForgetChildrenMode::Reparent => "reparent",
        }
    }
}

impl Memory {
    /// Writes Markdown below or over the node `anchor`, or as new roots without a file. Repeating
    /// a write changes nothing.
    ///
    /// # Errors
    ///
    /// There is no such node, or the text is blank, larger than 1 MiB or more than 20,000 nodes.
    /// Nothing changes then.
    pub fn write(
        &self,
        payload: &str,
        anchor: Option<&str>,
        mode: AppendOrReplaceMode,
    ) -> Result<Answer, Error> {
        if anchor.is_none() && mode == AppendOrReplaceMode::Replace {
            let why = "without an `anchor` there is nothing to replace; name one";
            return Err(Error::BadArgument(why.to_owned()));
        }
        let payload = self.redact("payload", payload)?;
        let n_nodes = payload.tree.nodes.len();
        if NODES_MAX < n_nodes {
            return Err(Error::BadArgument(format!(
                "`payload` has {n_nodes} headings, paragraphs and other nodes, and {NODES_MAX} are \
                 the most for one call; write it in parts, or compile a file"
            )));
        }
        let texts = payload.compared();
        let mut in_file = self.in_file();
        let write = |batch: &mut Batch<'_>, anchor: Option<NodeRecord>| {
            if let Some(node) = &anchor {
                check_is_changeable(batch, node, "anchor")?;
            }
            let mut near = Vec::with_capacity(texts.len());
            for words in texts {
                near.push(words.near_duplicates(batch, &self.common_words)?);
            }
            let written = match &anchor {
                Some(node) if replaces(node, mode) => replace(batch, &mut in_file, node, &payload)?,
                anchor => append(batch, &mut in_file, anchor.as_ref(), &payload)?,
            };
            batch.set_message(format!("write:{}", written[0].id));
            Ok((near, written))
        };
        let outcome = match anchor {
            None => self.change(|batch| write(batch, None)),
            Some(id) => self.change_at(id, |batch, node| write(batch, Some(node))),
        };
        let ((near, written), commit) = outcome.map_err(|it| in_file.put_back(it))?;
        let (text, structured) = report_written(&near, &written);
        Ok(self.answer(in_file.told(text), structured, commit))
    }

    /// Replaces a node's text by a summary, and sets its temperature, by default to 0.5.
    ///
    /// # Errors
    ///
    /// There is no such node, the summary is blank or larger than 1 MiB, or the temperature lies
    /// outside of [0, 1]. Nothing changes then.
    pub fn summarize(
        &self,
        node_id: &str,
        summary: &str,
        temperature: Option<f64>,
    ) -> Result<Answer, Error> {
        let payload = self.redact("summary", summary)?;
        let (content, after) = (&payload.text, payload.token_count);
        let temperature = checked(temperature)?.unwrap_or(self.rates().summarize_rebound);
        let label = text::truncate_chars(
            &format!("Summary: {}", text::label_of_text(content)),
            LABEL_CHARS_MAX,
        );
        let mut in_file = self.in_file();
        let outcome = self.change_at(node_id, |batch, old| {
            check_is_changeable(batch, &old, "node_id")?;
            check_node_text(&old, "summary", content)?;
            batch.set_message(format!("summarize:{}", old.id));
            // An unchanged text is no summary and keeps its label.
            let edit = NodeEditInFile::Replace(content, &payload.tree);
            if old.content != *content && in_file.change(batch, &old, edit)?.is_none() {
                let token_count = after;
                let (format, label) = (ContentFormat::Plain, &label);
                let new = UnplacedNodeData { label, content, format, token_count, ..old.data() };
                batch.set_agent_text(&old, &new)?;
            }
            batch.set_temperature(old.key, temperature)?;
            Ok((old.id, old.token_count))
        });
        let ((id, before), commit) = outcome.map_err(|it| in_file.put_back(it))?;
        let text = in_file.told(format!("summarized node {id} ({before} → {after} tokens)"));
        let structured = json!({
            "node_id": id.to_string(),
            "tokens_before": before,
            "tokens_after": after,
            "temperature": temperature,
        });
        Ok(self.answer(text, structured, commit))
    }

    /// Forgets a node. A node of a file stays forgotten until its block of the file changes.
    ///
    /// # Errors
    ///
    /// There is no such node, or `mode` is strict and it has children, or is a topic that has
    /// episodes. Nothing changes then.
    pub fn forget(&self, node_id: &str, mode: ForgetChildrenMode) -> Result<Answer, Error> {
        let name = mode.as_str();
        let mut in_file = self.in_file();
        let now = self.clock.now();
        let outcome = self.change_at(node_id, |batch, old| {
            let id = old.id;
            batch.set_message(format!("forget:{name}:{id}"));
            let children = batch.children_of(old.key)?;
            match mode {
                ForgetChildrenMode::Strict if !children.is_empty() => {
                    return Err(refuse(id, &children));
                }
                ForgetChildrenMode::Strict if old.node_type == NodeType::Topic => {
                    let n_episodes = n_episodes_of(batch, id).map_err(unsettled)?;
                    if 0 < n_episodes {
                        return Err(refuse_topic(id, n_episodes));
                    }
                    forget_alone(batch, old, now)?;
                }
                ForgetChildrenMode::Reparent if !children.is_empty() => {
                    if in_file.change(batch, &old, NodeEditInFile::Lift)?.is_some() {
                        return Ok(id);
                    }
                    take_place(batch, &old, &children)?;
                    forget_alone(batch, old, now)?;
                }
                ForgetChildrenMode::Strict
                | ForgetChildrenMode::Cascade
                | ForgetChildrenMode::Reparent => {
                    if in_file.change(batch, &old, NodeEditInFile::Remove)?.is_none() {
                        forget_with_knowledge(batch, old, now)?;
                    }
                }
            }
            Ok(id)
        });
        let (id, commit) = outcome.map_err(|it| in_file.put_back(it))?;
        let n_affected = commit.counts.modified + commit.counts.removed;
        let text = format!("forgot node {id} (mode={name}, {n_affected} affected)");
        let text = in_file.told(text);
        let structured = json!({"node_id": id.to_string(), "mode": name, "affected": n_affected});
        Ok(self.answer(text, structured, commit))
    }

    /// Pins a node, which keeps it from cooling, at its temperature or at the given one.
    ///
    /// # Errors
    ///
    /// There is no such node, or the temperature lies outside of [0, 1].
    pub fn pin(&self, node_id: &str, temperature: Option<f64>) -> Result<Answer, Error> {
        let temperature = checked(temperature)?;
        let ((id, now), commit) = self
            .change_at(node_id, |batch, node| Ok((node.id, batch.pin(node.key, temperature)?)))?;
        let text = match temperature {
            Some(temperature) => format!("pinned node {id} at temperature {temperature}"),
            None => format!("pinned node {id}"),
        };
        let structured = json!({"node_id": id.to_string(), "pinned": true, "temperature": now});
        Ok(self.answer(text, structured, commit))
    }

    /// Unpins a node, which cools from its temperature on.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn unpin(&self, node_id: &str) -> Result<Answer, Error> {
        let ((id, now), commit) =
            self.change_at(node_id, |batch, node| Ok((node.id, batch.unpin(node.key)?)))?;
        let structured = json!({"node_id": id.to_string(), "pinned": false, "temperature": now});
        Ok(self.answer(format!("unpinned node {id}"), structured, commit))
    }

    fn answer(&self, text: String, mut facts: Value, commit: CommitReport) -> Answer {
        facts["snapshot"] = commit.snapshot.into();
        Answer::plain(text, self.output, || facts)
    }

    /// Runs one write as a transaction.
    fn change<T>(
        &self,
        body: impl FnOnce(&mut Batch<'_>) -> Result<T, Error>,
    ) -> Result<(T, CommitReport), Error> {
        self.writer.write("", "", self.clock.now(), body)
    }

    /// Runs one write at the node of that id, UUID or file as a transaction.
    fn change_at<T>(
        &self,
        id: &str,
        body: impl FnOnce(&mut Batch<'_>, NodeRecord) -> Result<T, Error>,
    ) -> Result<(T, CommitReport), Error> {
        let id = &*self.known_id(id)?;
        let (value, commit) = self.change(|batch| {
            let Some(node) = batch.find_any(id)? else { return Ok(None) };
            let value = body(batch, node)?;
            settle_statements(batch, &[], self.clock.now()).map_err(unsettled)?;
            Ok(Some(value))
        })?;
        value.map(|it| (it, commit)).ok_or_else(|| self.unknown(id))
    }

    /// Returns the id of the node of that UUID or file; any other id as it is, even an unknown one.
    pub(super) fn known_id<'a>(&self, id: &'a str) -> Result<Cow<'a, str>, Error> {
        if NodeId::parse(id).is_some() {
            return Ok(Cow::Borrowed(id));
        }
        let found = self.read(|reader| query::find_by_id(reader, id))?;
        Ok(found.map_or(Cow::Borrowed(id), |it| Cow::Owned(it.id)))
    }

    /// Returns the error for an unknown id, which names the most similar nodes.
    pub(super) fn unknown(&self, id: &str) -> Error {
        let found = self.read(|reader| query::node_by_id(reader, id));
        // A node that was added meanwhile is an error, too.
        found
            .err()
            .unwrap_or_else(|| Error::NotFound(format!("no node `{}`", query::quote_input(id))))
    }

    /// Redacts and parses a text from an agent.
    fn redact(&self, name: &str, text: &str) -> Result<PreparedWriteText, Error> {
        if PAYLOAD_BYTES_MAX < text.len() {
            let size = text.len();
            return Err(Error::BadArgument(format!(
                "`{name}` has {size} bytes, and {PAYLOAD_BYTES_MAX} are the most for one call; \
                 write it in parts, or compile a file"
            )));
        }
        if text.trim().is_empty() {
            return Err(Error::BadArgument(format!("`{name}` is blank; say something")));
        }
        let redactor = &self.workspace().redactor;
        let (text, parsed) = compile::parse_text_redacted(Syntax::Markdown, text, redactor);
        let mut tree = parsed.tree;
        let text = text.trim_matches(['\r', '\n']).trim_end().to_owned();
        // Counted before the write is open, since others wait for that.
        let token_count = match &tree.nodes[..] {
            [one] if one.content == text => one.token_count,
            _ => tokens::count(&text),
        };
        if tree.nodes.is_empty() {
            tree.push(plain(&text, text::label_of_text(&text), token_count));
        }
        Ok(PreparedWriteText { text, token_count, tree })
    }
}

/// A text prepared for a write: redacted and parsed.
struct PreparedWriteText {
    /// The text as authored.
    text: String,
    /// Tokens of that text.
    token_count: u32,
    /// Its nodes, at least one.
    tree: DocumentTree,
}

impl PreparedWriteText {
    /// Returns the words of its texts, to compare them with what is there; none of a document.
    fn compared(&self) -> Vec<NearDuplicateQuery> {
        match &self.tree.nodes[..] {
            nodes if nodes.len() <= COMPARED_MAX => {
                nodes.iter().filter_map(|it| NearDuplicateQuery::of(&it.content)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn plain(content: &str, label: String, token_count: u32) -> Node {
    Node { label, content: content.to_owned(), token_count, ..Node::default() }
}

fn checked(temperature: Option<f64>) -> Result<Option<f64>, Error> {
    match temperature {
        Some(it) if !(0.0..=1.0).contains(&it) => {
            Err(Error::BadArgument(format!("`temperature` must be between 0 and 1, not {it}")))
        }
        it => Ok(it),
    }
}

/// Refuses a node of knowledge that is deleted or merged into another one.
fn check_is_changeable(batch: &Batch<'_>, node: &NodeRecord, name: &str) -> Result<(), Error> {
    match why_not_written(batch, node).map_err(unsettled)? {
        Some(why) => Err(Error::BadArgument(format!("`{name}` {why}"))),
        None => Ok(()),
    }
}

fn replaces(node: &NodeRecord, mode: AppendOrReplaceMode) -> bool {
    match mode {
        AppendOrReplaceMode::Append => false,
        AppendOrReplaceMode::Replace => true,
        AppendOrReplaceMode::Auto => {
            node.node_type != NodeType::Heading && !node.content.is_empty()
        }
    }
}

/// Replaces a node's text. The parsed form is used where the payload is one node of that type,
/// else the text as authored.
fn replace(
    batch: &mut Batch<'_>,
    in_file: &mut WriteBackAttempt,
    old: &NodeRecord,
    payload: &PreparedWriteText,
) -> Result<Vec<WrittenNode>, Error> {
    check_node_text(old, "payload", &payload.text)?;
    let edit = NodeEditInFile::Replace(&payload.text, &payload.tree);
    if let Some(written) = in_file.change(batch, old, edit)? {
        return Ok(written);
    }
    let first = &payload.tree.nodes[0];
    let is_one = payload.tree.nodes.len() == 1;
    let new = match is_one && first.node_type == old.node_type {
        true => UnplacedNodeData {
            label: &first.label,
            content: &first.content,
            format: first.format,
            token_count: first.token_count,
            attributes: old
                .attributes
                .with(LANG, first.lang.clone().map(OptionalColumnValue::Text)),
            ..old.data()
        },
        false if old.node_type == NodeType::Heading && payload.text.contains('\n') => {
            let why = "a heading is one line; write below it with mode `append`";
            return Err(Error::BadArgument(why.to_owned()));
        }
        false => UnplacedNodeData {
            label: &first.label,
            content: &payload.text,
            format: ContentFormat::Plain,
            token_count: payload.token_count,
            ..old.data()
        },
    };
    // An unchanged text keeps its label, which its file may have given it.
    if new.content != old.content || new.attributes != old.attributes {
        batch.set_agent_text(old, &new)?;
    }
    Ok(vec![WrittenNode::of(old.id, &new, 0)])
}

/// Appends the tree to a node's children, or as roots without a file, unless it is there already.
fn append(
    batch: &mut Batch<'_>,
    in_file: &mut WriteBackAttempt,
    anchor: Option<&NodeRecord>,
    payload: &PreparedWriteText,
) -> Result<Vec<WrittenNode>, Error> {
    let tree = &payload.tree;
    let parent = anchor.map(|it| it.key);
    let file = anchor.and_then(|it| it.place.file);
    if let Some(there) = already(batch, parent, tree)? {
        return Ok(there);
    }
    let landed = match anchor {
        Some(node) => {
            let edit = NodeEditInFile::Append(&payload.text, tree);
            in_file.change(batch, node, edit)?
        }
        None => in_file.add_note(batch, &payload.text, tree)?,
    };
    if let Some(written) = landed {
        return Ok(written);
    }
    let mut written: Vec<WrittenNode> = Vec::with_capacity(tree.nodes.len());
    let mut keys: Vec<NodeRowId> = Vec::with_capacity(tree.nodes.len());
    for (node, depth) in tree.nodes.iter().zip(tree.depths()) {
        let place = batch.last_place(file, node.parent.map(|at| keys[at]).or(parent))?;
        let data = UnplacedNodeData::of(node);
        let (key, id) = batch.insert_agent_node(&data, place)?;
        keys.push(key);
        written.push(WrittenNode::of(id, &data, depth));
    }
    Ok(written)
}

fn unsettled(error: MemoryError) -> Error {
    Error::Unavailable(format!("cannot change knowledge with it: {}", error.message))
}

/// Refuses a text that a typed memory may not have; other nodes may have any.
fn check_node_text(node: &NodeRecord, name: &str, text: &str) -> Result<(), Error> {
    match TypedNodeSchema::of(node.node_type) {
        None => Ok(()),
        Some(kind) => check_marked_text(text, kind.content_chars_max)
            .map_err(|why| Error::BadArgument(format!("`{name}` {why} into a memory"))),
    }
}

#[cfg(test)]
mod tests;
