//! Nodes of knowledge in a write: their fields as values, their edges, inserts and changes.

use serde_json::{Map, Value, json};

use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{name_key, normal_name, normal_statement};
use crate::model::identity::NodeId;
use crate::model::node_fields::{self, CanonicalFields};
use crate::model::tree::{ContentFormat, NodeType};
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::model::typed_node_field_schemas::knowledge::LINKS_MAX;
use crate::model::validity::Validity;
use crate::store::reader::unreadable;
use crate::store::{
    Batch, FIELDS, NodePlace, NodeRecord, NodeRowId, OptionalColumnValue, OptionalColumnValues,
    UnplacedNodeData,
};
use crate::text::{self, LABEL_CHARS_MAX, tokens};

/// The field with the edges that somebody took away.
const UNLINKED: &str = "unlinked";

/// A node with its fields.
#[derive(Clone, Debug)]
pub(super) struct StoredKnowledgeNode {
    pub(super) record: NodeRecord,
    pub(super) fields: Map<String, Value>,
}

/// The text and the fields of a node to be added.
pub(super) struct NewKnowledgeNode<'a> {
    pub(super) node_type: NodeType,
    pub(super) content: &'a str,
    pub(super) token_count: u32,
    pub(super) fields: Map<String, Value>,
}

/// The place of a new node.
pub(super) enum NewNodePlace<'a> {
    /// Headings below those of its kind.
    Bucket(&'a [&'a str]),
    Node(NodeRowId),
    /// A free place among siblings.
    Place(NodePlace),
}

impl StoredKnowledgeNode {
    /// Reads a node that has fields.
    pub(super) fn of(record: NodeRecord) -> Result<StoredKnowledgeNode, MemoryError> {
        let fields = match record.attributes.fields() {
            Some(text) => CanonicalFields::parse_loosely(text)
                .map_err(|it| unreadable(record.id, &it))?
                .into_object(),
            None => Map::new(),
        };
        Ok(StoredKnowledgeNode { record, fields })
    }

    pub(super) fn all(records: Vec<NodeRecord>) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        records.into_iter().map(StoredKnowledgeNode::of).collect()
    }

    pub(super) fn id(&self) -> NodeId {
        self.record.id
    }

    pub(super) fn is_a(&self, node_type: NodeType) -> bool {
        self.record.node_type == node_type
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.fields.get(key).and_then(Value::as_str)
    }

    pub(super) fn time(&self, key: &str) -> Option<UnixMillis> {
        self.fields.get(key).and_then(Value::as_i64).map(UnixMillis)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Returns the time in which a fact holds.
    pub(super) fn validity(&self) -> Validity {
        Validity { from: self.time("valid_from"), to: self.time("valid_to") }
    }

    /// Returns its title, or the line that stands for its text.
    pub(super) fn title(&self) -> &str {
        self.text("title").unwrap_or(&self.record.label)
    }

    /// Returns whether it is deleted, replaced or archived.
    pub(super) fn is_hidden(&self) -> bool {
        ["deleted", "superseded_by", "merged_into", "archived"].iter().any(|it| self.has(it))
    }

    /// Returns the ids that its edges of a type lead to.
    pub(super) fn linked(&self, link_type: &str) -> Vec<&str> {
        node_fields::list(&self.fields, "links")
            .iter()
            .filter(|it| it["type"].as_str() == Some(link_type))
            .filter_map(|it| it["to"].as_str())
            .collect()
    }
}

/// Gives fields the bounds of the time in which a fact holds.
pub(super) fn set_bounds(fields: &mut Map<String, Value>, held: Validity) {
    fields.insert("valid_from".to_owned(), held.from.map(|it| it.0).into());
    fields.insert("valid_to".to_owned(), held.to.map(|it| it.0).into());
}

/// Returns an edge as fields have it; a strength of 1 is left out.
pub(super) fn edge(link_type: &str, to: NodeId, strength: f64, context: Option<&str>) -> Value {
    let mut link = json!({"type": link_type, "to": to.to_string()});
    if strength < 1.0 {
        link["strength"] = strength.into();
    }
    if let Some(context) = context {
        link["context"] = context.into();
    }
    link
}

/// Adds an edge to fields, in place of one of that type to that node.
pub(super) fn add_edge(fields: &mut Map<String, Value>, link: Value) {
    set_unlinked(fields, |it| it.retain(|known| !is_same_edge(known, &link)));
    let links = fields.entry("links").or_insert_with(|| json!([]));
    if let Value::Array(links) = links {
        links.retain(|it| !is_same_edge(it, &link));
        links.push(link);
    }
}

fn is_same_edge(a: &Value, b: &Value) -> bool {
    (&a["type"], &a["to"]) == (&b["type"], &b["to"])
}

/// Adds to a node what it does not mention yet.
pub(super) fn add_mentions(
    batch: &mut Batch<'_>,
    node: &mut StoredKnowledgeNode,
    mentions: &[NodeId],
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let known: Vec<String> = node.linked("mentions").into_iter().map(str::to_owned).collect();
    let room = LINKS_MAX.saturating_sub(node_fields::list(&node.fields, "links").len());
    let new = mentions.iter().filter(|it| !known.contains(&it.to_string())).take(room);
    let links: Vec<Value> = new.map(|it| edge("mentions", *it, 1.0, None)).collect();
    let link = |it: &mut Map<String, Value>| links.into_iter().for_each(|to| add_edge(it, to));
    set_fields(batch, node, link, now).map(drop)
}

/// Notes that somebody took an edge away, so that no import brings it back; of more than fit, the
/// eldest is passed over.
pub(super) fn note_unlinked(fields: &mut Map<String, Value>, link_type: &str, to: NodeId) {
    let link = edge(link_type, to, 1.0, None);
    set_unlinked(fields, |it| {
        it.retain(|known| !is_same_edge(known, &link));
        it.drain(..(it.len() + 1).saturating_sub(LINKS_MAX));
        it.push(link);
    });
}

/// Returns whether somebody took an edge away.
pub(super) fn is_unlinked(fields: &Map<String, Value>, link_type: &str, to: NodeId) -> bool {
    let link = edge(link_type, to, 1.0, None);
    node_fields::list(fields, UNLINKED).iter().any(|it| is_same_edge(it, &link))
}

fn set_unlinked(fields: &mut Map<String, Value>, change: impl FnOnce(&mut Vec<Value>)) {
    let mut unlinked = match fields.shift_remove(UNLINKED) {
        Some(Value::Array(known)) => known,
        _ => Vec::new(),
    };
    change(&mut unlinked);
    if !unlinked.is_empty() {
        fields.insert(UNLINKED.to_owned(), unlinked.into());
    }
}

/// Removes the edges of a type to a node; returns whether there were any.
pub(super) fn remove_edge(fields: &mut Map<String, Value>, link_type: &str, to: NodeId) -> bool {
    let Some(Value::Array(links)) = fields.get_mut("links") else { return false };
    let n_before = links.len();
    let to = to.to_string();
    links.retain(|it| (it["type"].as_str(), it["to"].as_str()) != (Some(link_type), Some(&to)));
    let is_other = links.len() < n_before;
    if links.is_empty() {
        fields.shift_remove("links");
    }
    is_other
}

/// Adds a node.
pub(super) fn add_node(
    batch: &mut Batch<'_>,
    new: NewKnowledgeNode<'_>,
    below: NewNodePlace<'_>,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    let NewKnowledgeNode { node_type, content, token_count, mut fields } = new;
    // Imported nodes bring their own times.
    for key in ["created_at", "updated_at"] {
        fields.entry(key).or_insert_with(|| now.0.into());
    }
    if node_type == NodeType::Fact {
        add_key_of_normal_form(&mut fields, content);
    }
    let fields = checked(node_type, fields)?;
    let label = label(node_type, &fields, content);
    let data = UnplacedNodeData {
        node_type,
        format: ContentFormat::Plain,
        label: &label,
        content,
        token_count,
        attributes: OptionalColumnValues::default()
            .with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string()))),
    };
    let (key, _) = match below {
        NewNodePlace::Bucket(more) => {
            let bucket = TypedNodeSchema::of(node_type).map_or(&[][..], |it| it.bucket);
            let bucket: Vec<&str> = bucket.iter().chain(more).copied().collect();
            batch.insert_typed_node(&data, &bucket)?
        }
        NewNodePlace::Node(parent) => {
            let place = batch.last_place(None, Some(parent))?;
            batch.insert_agent_node(&data, place)?
        }
        NewNodePlace::Place(place) => batch.insert_agent_node(&data, place)?,
    };
    reread(batch, key)
}

/// Gives a node other fields; returns whether they differ.
pub(super) fn set_fields(
    batch: &mut Batch<'_>,
    node: &mut StoredKnowledgeNode,
    change: impl FnOnce(&mut Map<String, Value>),
    now: UnixMillis,
) -> Result<bool, MemoryError> {
    let content = node.record.content.clone();
    set_node(batch, node, &content, change, now)
}

/// Gives a node another text and other fields; returns whether anything differs.
pub(super) fn set_node(
    batch: &mut Batch<'_>,
    node: &mut StoredKnowledgeNode,
    content: &str,
    change: impl FnOnce(&mut Map<String, Value>),
    now: UnixMillis,
) -> Result<bool, MemoryError> {
    let mut fields = node.fields.clone();
    change(&mut fields);
    fields.retain(|_, it| !it.is_null());
    let is_same_text = content == node.record.content;
    if is_same_text && fields == node.fields {
        return Ok(false);
    }
    fields.insert("updated_at".to_owned(), now.0.into());
    if !is_same_text && node.is_a(NodeType::Fact) {
        add_key_of_normal_form(&mut fields, content);
    }
    let fields = checked(node.record.node_type, fields)?;
    let token_count = if is_same_text { node.record.token_count } else { tokens::count(content) };
    let label = label(node.record.node_type, &fields, content);
    let data = UnplacedNodeData {
        label: &label,
        content,
        token_count,
        attributes: node
            .record
            .attributes
            .with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string()))),
        ..node.record.data()
    };
    batch.set_agent_text(&node.record, &data)?;
    *node = reread(batch, node.record.key)?;
    Ok(true)
}

/// Adds the key of its normal form to a fact without an attribute whose text is not in that form.
/// Others are found by the hash of their text, or by the key of their attribute.
fn add_key_of_normal_form(fields: &mut Map<String, Value>, content: &str) {
    let statement = normal_statement(content);
    if fields.get("attribute").is_some_and(|it| !it.is_null()) || statement == content {
        return;
    }
    fields.insert("names".to_owned(), json!([name_key(&statement)]));
}

fn reread(batch: &Batch<'_>, key: NodeRowId) -> Result<StoredKnowledgeNode, MemoryError> {
    let record = batch.at(key)?;
    let gone = || MemoryError::invalid("a node is gone that was just written");
    StoredKnowledgeNode::of(record.ok_or_else(gone)?)
}

/// Returns fields in their canonical form, if their kind allows them.
pub(super) fn checked(
    node_type: NodeType,
    fields: Map<String, Value>,
) -> Result<CanonicalFields, MemoryError> {
    let fields = CanonicalFields::new(fields).map_err(|it| MemoryError::invalid(it.to_string()))?;
    if let Some(kind) = TypedNodeSchema::of(node_type) {
        kind.check(&fields).map_err(|it| MemoryError::invalid(it.to_string()))?;
    }
    Ok(fields)
}

/// Returns the line that stands for a node. That of a fact begins with its attribute, by which it
/// is found, unless the text has it.
fn label(node_type: NodeType, fields: &CanonicalFields, content: &str) -> String {
    let field = |key: &str| fields.get(key).and_then(Value::as_str);
    if let Some(title) = field("title") {
        return text::truncate_chars(&text::fold_whitespace(title), LABEL_CHARS_MAX);
    }
    let line = text::label_of_text(content);
    let attribute = field("attribute").filter(|_| node_type == NodeType::Fact);
    match attribute.filter(|it| !normal_name(content).contains(&normal_name(it))) {
        Some(attribute) => {
            let line = format!("{attribute}: {line}");
            text::truncate_chars(&text::fold_whitespace(&line), LABEL_CHARS_MAX)
        }
        None => line,
    }
}

/// Returns the node of an id, of any type.
pub(super) fn find_node(
    batch: &Batch<'_>,
    id: &str,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    batch.find_any(id)?.map(StoredKnowledgeNode::of).transpose()
}
