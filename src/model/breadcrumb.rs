//! The breadcrumb: a file's stem and the labels of the nodes above one, joined by ` / `.
//!
//! It is indexed for search, so that a paragraph is found by the headings above it. It is derived:
//! renaming a heading changes the breadcrumb of everything below it, and the state of no node
//! there.
//!
//! Search does not see the separators, and the stored text cannot tell ` / ` within a label from
//! ` / ` between two. Replies show it without the spaces ([`to_title`]).

use std::borrow::Cow;

use crate::model::tree::DocumentTree;
use crate::text;

/// Maximum characters of a breadcrumb; a longer one loses its middle and keeps the nearest
/// ancestors.
const BREADCRUMB_CHARS_MAX: usize = 400;

/// Between the parts of a breadcrumb.
pub(crate) const SEPARATOR: &str = " / ";

/// Returns each node's breadcrumb, by index.
pub(crate) fn breadcrumbs_of_tree(path: &str, tree: &DocumentTree) -> Vec<String> {
    let stem = file_stem(path);
    let mut breadcrumbs: Vec<String> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        breadcrumbs.push(match node.parent {
            None => stem.to_owned(),
            Some(parent) => child_breadcrumb(&breadcrumbs[parent], &tree.nodes[parent].label),
        });
    }
    breadcrumbs
}

/// Returns the breadcrumb of the topmost nodes of the file at `path`.
pub(crate) fn root_breadcrumb(path: &str) -> String {
    file_stem(path).to_owned()
}

/// Returns the breadcrumb of the children of a node with this breadcrumb and label.
pub(crate) fn child_breadcrumb(breadcrumb: &str, label: &str) -> String {
    match (breadcrumb.is_empty(), label.is_empty()) {
        (_, true) => return breadcrumb.to_owned(),
        (true, false) => return label.to_owned(),
        (false, false) => (),
    }
    let long = [breadcrumb, SEPARATOR, label].concat();
    // No character has less than a byte.
    if long.len() <= BREADCRUMB_CHARS_MAX || long.chars().count() <= BREADCRUMB_CHARS_MAX {
        return long;
    }
    let first = breadcrumb.split(SEPARATOR).next().unwrap_or("");
    format!(
        "{}{SEPARATOR}…{SEPARATOR}{label}",
        text::truncate_chars(first, BREADCRUMB_CHARS_MAX / 2)
    )
}

/// Returns a label as one title of a breadcrumb: a `/` between spaces loses these.
pub(crate) fn to_title(label: &str) -> Cow<'_, str> {
    let is_gap = |it: char| it.is_whitespace() || it.is_control();
    let is_slash = |word: &str| word.chars().filter(|&it| !text::is_invisible(it)).eq(['/']);
    if !label.split(is_gap).any(is_slash) {
        return Cow::Borrowed(label);
    }
    let (mut title, mut follows_slash) = (String::new(), true);
    for word in label.split(is_gap).filter(|it| !it.is_empty()) {
        let gap = if follows_slash || is_slash(word) { "" } else { " " };
        title.push_str(gap);
        title.push_str(word);
        follows_slash = is_slash(word);
    }
    Cow::Owned(title)
}

/// Returns a file's name without folders and extension.
pub(crate) fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests;
