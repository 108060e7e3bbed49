//! Marker lines: comments that name a node, printed and parsed.

use serde_json::{Map, Value, json};

use super::ExportedNodeAttributes;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::links::reference::{Reference, ReferenceSyntax, WEIGHT_MAX};
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{ContentFormat, Node, NodeType};

/// The first line of an exported file.
pub(crate) const FILE_HEADER: &str = "<!-- remindb export 1 -->";

/// The beginning of every marker.
pub(super) const MARKER_START: &str = "<!-- remindb ";

/// The end of every marker.
pub(super) const MARKER_END: &str = " -->";

/// Order keys of markers, at most; later siblings need room.
const POSITION_MAX: i64 = 1 << 60;

/// Depth of a node, at most.
const DEPTH_MAX: usize = 1_000;

/// References of one node, at most.
const LINKS_MAX: usize = 10_000;

/// How a block shows its node's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeTextForm {
    Heading,
    Plain,
    Fenced,
}

/// A marker as parsed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marker {
    pub(super) marks: ExportedNodeAttributes,
    pub(super) depth: usize,
    pub(super) hash: ContentHash,
    pub(super) form: NodeTextForm,
    /// Type, format and what else the block does not show; without a text.
    pub(super) node: Node,
    /// Whether the marker gives the label, which the text gives otherwise.
    pub(super) has_label: bool,
    /// Whether the marker gives the language or the level, which the block shows otherwise.
    pub(super) has_lang: bool,
    pub(super) has_level: bool,
}

/// The values that the writer does not leave to the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributesToWriteInMarker {
    pub(super) label: bool,
    pub(super) lang: bool,
    pub(super) level: bool,
    /// Whether a plain text is fenced.
    pub(super) fence: bool,
}

/// Returns whether a line is, or was meant to be, a marker.
pub(super) fn is_marker(line: &str) -> bool {
    line.starts_with(MARKER_START)
}

/// Returns the form of blocks of a type and format, unless a marker says that they are fenced.
pub(super) fn usual_form(node_type: NodeType, format: ContentFormat) -> NodeTextForm {
    match (node_type, format) {
        (NodeType::Heading, _) => NodeTextForm::Heading,
        (NodeType::Code | NodeType::Kv | NodeType::Preamble, _) => NodeTextForm::Fenced,
        (
            _,
            ContentFormat::Toon
            | ContentFormat::Latex
            | ContentFormat::Mathml
            | ContentFormat::Svg
            | ContentFormat::Canvas,
        ) => NodeTextForm::Fenced,
        _ => NodeTextForm::Plain,
    }
}

/// Prints a marker.
pub(super) fn print(
    node: &Node,
    depth: usize,
    marks: &ExportedNodeAttributes,
    explicit: AttributesToWriteInMarker,
) -> String {
    let id = marks.id.map(|it| it.to_string()).unwrap_or_default();
    let hash = ContentHash::of(&node.content);
    let extra = extra(node, marks, explicit);
    let extra = if extra.is_empty() { String::new() } else { to_comment(&Value::Object(extra)) };
    let node_type = node.node_type;
    format!("{MARKER_START}{id} {node_type} {depth} {hash}{extra}{MARKER_END}")
}

fn extra(
    node: &Node,
    marks: &ExportedNodeAttributes,
    explicit: AttributesToWriteInMarker,
) -> Map<String, Value> {
    let mut extra = Map::new();
    let mut add = |name: &str, value: Value| extra.insert(name.to_owned(), value);
    if explicit.label {
        add("label", json!(node.label));
    }
    if explicit.lang {
        add("lang", json!(node.lang));
    }
    if explicit.level {
        add("level", json!(node.level));
    }
    if explicit.fence {
        add("fenced", json!(true));
    }
    if let Some(key_path) = &node.key_path {
        add("path", json!(key_path));
    }
    if node.format != ContentFormat::Plain {
        add("format", json!(node.format.as_str()));
    }
    if marks.is_pinned {
        add("pinned", json!(true));
    }
    if let Some(parent) = marks.parent {
        add("below", json!(parent.to_string()));
    }
    if let Some(position) = marks.position {
        add("place", json!(position));
    }
    if let Some(fields) = &marks.fields {
        add("fields", Value::Object(fields.object().clone()));
    }
    if !marks.links.is_empty() {
        add("links", marks.links.iter().map(link_to_json).collect());
    }
    extra
}

/// Returns JSON that may stand in a comment: two hyphens or a bracket would end it.
pub(super) fn to_comment(value: &Value) -> String {
    let text = value.to_string().replace("--", "-\\u002d");
    format!(" {}", text.replace('<', "\\u003c").replace('>', "\\u003e"))
}

/// Parses a marker line; the error says what is wrong.
pub(super) fn parse(line: &str) -> Result<Marker, String> {
    let inner = line
        .trim_end()
        .strip_prefix(MARKER_START)
        .and_then(|it| it.strip_suffix(MARKER_END))
        .ok_or("it does not end with `-->`")?;
    let mut words = inner.splitn(5, ' ');
    let mut next = || words.next().unwrap_or("");
    let id = NodeId::parse(next()).ok_or("it has no id")?;
    let node_type = NodeType::parse(next()).ok_or("it has no known type")?;
    let depth = next().parse().ok().filter(|it| *it <= DEPTH_MAX).ok_or("it has no depth")?;
    let hash = ContentHash::parse(next()).ok_or("it has no hash")?;
    let extra = match words.next() {
        None => Map::new(),
        Some(json) => serde_json::from_str(json).map_err(|_| "what follows is no JSON object")?,
    };
    let mut marker = Marker {
        marks: ExportedNodeAttributes {
            id: Some(id),
            exported_hash: Some(hash),
            ..ExportedNodeAttributes::default()
        },
        depth,
        hash,
        form: NodeTextForm::Plain,
        node: Node { node_type, ..Node::default() },
        has_label: false,
        has_lang: false,
        has_level: false,
    };
    let mut is_fenced = false;
    for (name, value) in extra {
        match name.as_str() {
            "fenced" => is_fenced = value == Value::Bool(true),
            _ => marker.set(&name, value).ok_or_else(|| format!("its `{name}` is not valid"))?,
        }
    }
    let usual = usual_form(node_type, marker.node.format);
    marker.form = if is_fenced { NodeTextForm::Fenced } else { usual };
    Ok(marker)
}

impl Marker {
    fn set(&mut self, name: &str, value: Value) -> Option<()> {
        let (node, marks) = (&mut self.node, &mut self.marks);
        match name {
            "label" => {
                value.as_str()?.clone_into(&mut node.label);
                self.has_label = true;
            }
            "lang" => {
                node.lang = value.as_str().map(str::to_owned);
                self.has_lang = true;
            }
            "level" => {
                let level = value.as_u64().and_then(|it| u8::try_from(it).ok());
                node.level = level.filter(|it| (1..=6).contains(it));
                self.has_level = true;
            }
            "path" => node.key_path = Some(value.as_str()?.to_owned()),
            "format" => node.format = ContentFormat::parse(value.as_str()?)?,
            "pinned" => marks.is_pinned = value.as_bool()?,
            "below" => marks.parent = Some(NodeId::parse(value.as_str()?)?),
            "place" => {
                let position = value.as_i64()?;
                marks.position = Some(position.clamp(-POSITION_MAX, POSITION_MAX));
            }
            "fields" => {
                let Value::Object(object) = value else { return None };
                marks.fields = Some(CanonicalFields::new(object).ok()?);
            }
            "links" => {
                let links = value.as_array().filter(|it| it.len() <= LINKS_MAX)?;
                marks.links = links.iter().map(link_of_json).collect::<Option<_>>()?;
            }
            // A later version may say more.
            _ => (),
        }
        Some(())
    }
}

fn link_to_json(link: &Reference) -> Value {
    let Reference { label, source, id_hint, heading, alias, weight, .. } = link;
    let mut object = Map::new();
    let texts = [("to", id_hint), ("source", source), ("heading", heading), ("alias", alias)];
    for (name, text) in texts {
        object.extend(text.as_ref().map(|it| (name.to_owned(), json!(it))));
    }
    if !label.is_empty() {
        object.insert("label".to_owned(), json!(label));
    }
    object.insert("weight".to_owned(), json!(weight));
    Value::Object(object)
}

fn link_of_json(value: &Value) -> Option<Reference> {
    let object = value.as_object()?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let weight = object.get("weight")?.as_f64()?;
    let link = Reference {
        label: text("label").unwrap_or_default(),
        source: text("source"),
        id_hint: text("to"),
        heading: text("heading"),
        alias: text("alias"),
        weight,
        form: ReferenceSyntax::Manual,
    };
    let is_valid = (0.0..=WEIGHT_MAX).contains(&weight) && link.words().any(|it| !it.is_empty());
    is_valid.then_some(link)
}
