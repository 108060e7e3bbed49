//! The children of a node, or the first nodes of files or of one file.

use serde_json::{Value, json};

use super::{CursorPage, Error, bad_cursor, node_row, numbers};
use crate::query::node_by_id;
use crate::store::reader::{BrowsedNode, Reader, SiblingCursor};

/// Returns a page of the children of `of`, a node or the path of a file, or of the nodes without a
/// parent: those of files by path, then the others.
pub(crate) fn children_document(
    reader: &Reader,
    of: Option<&str>,
    after: Option<&str>,
    n_max: usize,
) -> Result<Value, Error> {
    let attended = reader.attended()?;
    let (of, nodes) = match of {
        // By an id, a path is the first of these nodes.
        Some(path) if let Some(file) = reader.file_at(path)? => {
            (Some(path.to_owned()), roots_of_file(reader, file, after, n_max + 1)?)
        }
        Some(id) => {
            let head = node_by_id(reader, id)?;
            let after = match after {
                None => SiblingCursor::FIRST,
                Some(cursor) => position(numbers("after", cursor)?),
            };
            (Some(head.id), reader.children_after(head.key, after, n_max + 1)?)
        }
        None => (None, roots(reader, after, n_max + 1)?),
    };
    let cursor = |it: &BrowsedNode| {
        let place = format!("{}.{}", it.position, it.key.0);
        match (&of, it.file) {
            (Some(_), _) => place,
            (None, Some(file)) => format!("f{file}.{place}"),
            (None, None) => format!("n{place}"),
        }
    };
    let page = CursorPage::take(&nodes, n_max, |it| node_row(it, attended), cursor);
    Ok(json!({"of": of, "nodes": page.rows, "next": page.next}))
}

fn roots(reader: &Reader, after: Option<&str>, n_max: usize) -> Result<Vec<BrowsedNode>, Error> {
    let mut nodes = match after.map(|it| (it, it.split_at_checked(1))) {
        None => reader.roots_after(None, n_max)?,
        Some((_, Some(("f", rest)))) => {
            let [file, at, key] = numbers("after", rest)?;
            reader.roots_after(Some((file, position([at, key]))), n_max)?
        }
        Some((_, Some(("n", rest)))) => {
            let after = position(numbers("after", rest)?);
            return Ok(reader.loose_roots_after(after, n_max)?);
        }
        Some((cursor, _)) => return Err(bad_cursor("after", cursor)),
    };
    let n_left = n_max.saturating_sub(nodes.len());
    if 0 < n_left {
        nodes.extend(reader.loose_roots_after(SiblingCursor::FIRST, n_left)?);
    }
    Ok(nodes)
}

/// Returns nodes of a file without a parent. Other files may follow it, so they are left out.
fn roots_of_file(
    reader: &Reader,
    file: i64,
    after: Option<&str>,
    n_max: usize,
) -> Result<Vec<BrowsedNode>, Error> {
    let after = match after {
        None => SiblingCursor::FIRST,
        Some(cursor) => position(numbers("after", cursor)?),
    };
    let mut nodes = reader.roots_after(Some((file, after)), n_max)?;
    nodes.retain(|it| it.file == Some(file));
    Ok(nodes)
}

fn position([position, key]: [i64; 2]) -> SiblingCursor {
    SiblingCursor { position, key }
}
