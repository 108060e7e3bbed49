//! One node: its facts, and its text piece by piece.

use serde_json::{Value, json};

use super::{Error, bad_cursor, instant, markdown_to_json_elements, thousandths};
use crate::query::node_by_id;
use crate::store::reader::Reader;

/// Bytes of a piece of text.
const PIECE_BYTES: usize = 16 * 1024;

/// Bytes of the blocks of a piece, as JSON; a piece with more is shown as it is.
const BLOCKS_BYTES: usize = 104 * 1024;

/// Ancestors that are named, at most.
const ANCESTORS_MAX: usize = 64;

/// Parts of a large block that are joined, at most.
const PARTS_MAX: usize = 10_000;

/// Returns a node with the piece of its text that begins at `from`. A large block has the text of
/// its parts.
pub(crate) fn node_document(reader: &Reader, id: &str, from: Option<&str>) -> Result<Value, Error> {
    let key = node_by_id(reader, id)?.key;
    let missing = || Error::NotFound(format!("no node `{}`", super::quote_input(id)));
    let node = reader.browsed(&[key])?.pop().ok_or_else(missing)?;
    let details = reader.details(key)?.ok_or_else(missing)?;
    let mut content = details.content;
    if content.is_empty() && 0 < node.n_children {
        content = reader.parts_of(key, PARTS_MAX)?.join("\n");
    }
    let begin = match from {
        None => 0,
        Some(from) => from
            .parse()
            .ok()
            .filter(|it| *it < content.len() && content.is_char_boundary(*it))
            .ok_or_else(|| bad_cursor("from", from))?,
    };
    let piece = piece(&content[begin..]);
    let end = begin + piece.len();
    let mut above = reader.ancestors(key, ANCESTORS_MAX)?;
    above.reverse();
    let above: Vec<Value> =
        above.iter().map(|it| json!({"id": it.id, "label": it.label})).collect();
    let is_markdown = node.path.as_deref().is_none_or(|it| {
        let name = it.to_ascii_lowercase();
        [".md", ".markdown", ".mdx"].iter().any(|ending| name.ends_with(ending))
    });
    let blocks = match (node.node_type.as_str(), details.format.as_str()) {
        _ if piece.is_empty() => Value::Null,
        ("code", "plain") => markdown_to_json_elements::of_code(piece, details.lang.as_deref()),
        (_, "plain") if is_markdown => {
            let targets = reader.link_targets(key)?;
            markdown_to_json_elements::of_markdown(piece, &targets)
        }
        _ => Value::Null,
    };
    let blocks = if BLOCKS_BYTES < blocks.to_string().len() { Value::Null } else { blocks };
    Ok(json!({
        "id": node.id,
        "type": node.node_type,
        "label": node.label,
        "source": node.path,
        "tokens": node.tokens,
        "temperature": thousandths(node.heat.now(reader.attended()?)),
        "pinned": node.heat.pinned,
        "access_count": details.access_count,
        "accessed_at": details.accessed_at.map(instant),
        "created_at": details.created_at.map(instant),
        "ancestors": above,
        "n_children": node.n_children,
        "content": piece,
        "blocks": blocks,
        "next": (end < content.len()).then(|| end.to_string()),
    }))
}

/// Returns the beginning of a text, if it can be up to the end of a line.
fn piece(text: &str) -> &str {
    if text.len() <= PIECE_BYTES {
        return text;
    }
    let cut = text.floor_char_boundary(PIECE_BYTES);
    match text[..cut].rfind('\n') {
        Some(at) if PIECE_BYTES / 2 < at => &text[..=at],
        _ => &text[..cut],
    }
}
