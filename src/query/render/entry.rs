//! Entries: texts of nodes under the breadcrumb of their section, in lines that no text can forge.
//!
//! ```text
//! # people.md / People / Ana
//! D24sqAyQFTc[#]
//! AcTRirZSwQh On call in odd weeks.
//! 7fTzoFukxYs[code sh] make build
//!  make deploy
//! ```
//!
//! Only framing begins a line: every further line of a text has one space before it. Titles and
//! paths have no line breaks and no invisible characters, and no title can be taken for the path
//! of a file, for two titles or for the facts of a line. This module does no IO.

use super::{has_facts, to_label, to_one_line, to_quote};
use crate::ingest::parse::Syntax;
use crate::model::breadcrumb::{SEPARATOR, to_title};
use crate::store::reader::{LEFT_OUT_REASONS, NodeSummary, TextWithBreadcrumb};
use crate::text;
use crate::text::tokens;

/// Before a title below no file that could be the path of one.
const NO_FILE: &str = "no file";
/// Characters of a breadcrumb's path.
const PATH_CHARS_MAX: usize = 200;

/// A node to be shown with its text, or with a part of it.
#[derive(Clone, Debug)]
pub(crate) struct TextEntry<'a> {
    pub(crate) head: &'a NodeSummary,
    /// The line above, which the entries of one section share.
    pub(crate) place: String,
    /// The entry itself.
    pub(crate) lines: String,
}

impl<'a> TextEntry<'a> {
    /// Returns the entry of a node with its whole text.
    pub(crate) fn whole(head: &'a NodeSummary, text: &TextWithBreadcrumb) -> TextEntry<'a> {
        TextEntry::with_text(head, text, &text.content)
    }

    /// Returns the entry of a node with `shown` as its text.
    pub(crate) fn with_text(
        head: &'a NodeSummary,
        text: &TextWithBreadcrumb,
        shown: &str,
    ) -> TextEntry<'a> {
        let is_heading = head.node_type == "heading";
        let title = to_label(&head.label);
        // The last title of the breadcrumb is the text of a heading.
        let is_titled = is_heading && to_title(&title) == shown && !shown.is_empty();
        let own = if is_heading { title.as_str() } else { "" };
        let place = format!("# {}\n", breadcrumb(head, &text.breadcrumb, own));
        let mut lines = head.id.clone();
        if let Some(at) = head.changed_at {
            lines.push('@');
            lines.push_str(&at.day());
        }
        match (is_titled, head.node_type.as_str()) {
            (true, _) => lines.push_str("[#]"),
            (false, "text") => (),
            (false, node_type) => {
                // No node of knowledge has a language.
                let lang = head.lang.as_deref().map(shown_language);
                let mark = lang.or(head.left_out_as.map(str::to_owned)).unwrap_or_default();
                let gap = if mark.is_empty() { "" } else { " " };
                lines.push_str(&format!("[{node_type}{gap}{mark}]"));
            }
        }
        if !is_titled && !shown.is_empty() {
            lines.push(' ');
            lines.push_str(&shown.replace('\n', "\n "));
        }
        lines.push('\n');
        TextEntry { head, place, lines }
    }

    /// Returns the breadcrumb alone.
    pub(crate) fn breadcrumb(&self) -> &str {
        self.place[2..].trim_end_matches('\n')
    }

    /// Returns the tokens of the entry with its breadcrumb. Counts of lines add up: no token spans
    /// the seam of two lines that begin without white space.
    pub(crate) fn n_tokens(&self) -> u32 {
        tokens::count(&self.place).saturating_add(tokens::count(&self.lines))
    }
}

/// Returns the language of a code block: in quotes where it could be taken for a quote, the end of
/// the brackets or the reason for leaving out a node.
fn shown_language(lang: &str) -> String {
    let lang = to_one_line(lang);
    let is_reason = LEFT_OUT_REASONS.contains(&lang.trim().to_lowercase().as_str());
    if is_reason || lang.contains(['"', ']']) { to_quote(&lang) } else { lang.into_owned() }
}

/// Returns the breadcrumb of a node: the path of its file, and the titles above it.
pub(crate) fn breadcrumb(head: &NodeSummary, above: &str, own: &str) -> String {
    let (above, own) = (to_label(above), to_label(&to_title(own)));
    // The first part is the file's stem, which the path has.
    let titles = match &head.path {
        Some(_) => above.split_once(SEPARATOR).map_or("", |it| it.1),
        None => &above,
    };
    let place = match &head.path {
        Some(path) => path_part(path),
        None if could_be_path(first_part(if titles.is_empty() { &own } else { titles })) => {
            NO_FILE.to_owned()
        }
        None => String::new(),
    };
    let parts = [&place, titles, &own];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(SEPARATOR)
}

/// Returns a path as the first part of a breadcrumb; a title above cannot be a part of it.
fn path_part(path: &str) -> String {
    let path = text::truncate_chars(&to_one_line(path), PATH_CHARS_MAX);
    let is_open = path.starts_with('"') || path.contains(SEPARATOR) || has_facts(&path);
    if is_open { to_quote(&path) } else { path }
}

fn first_part(titles: &str) -> &str {
    titles.split_once(SEPARATOR).map_or(titles, |it| it.0)
}

/// Returns whether a title reads as the path of a file, or as the sign that there is none. Signs
/// that are not seen, and a `/` at either end, do not matter.
fn could_be_path(title: &str) -> bool {
    let seen =
        title.chars().filter(|&it| !text::is_invisible(it) && !text::is_variation_selector(it));
    let seen: String = seen.collect();
    let title = seen.trim_matches(|it: char| it.is_whitespace() || it == '/');
    title == NO_FILE || title.starts_with('"') || Syntax::of(title).is_some()
}

/// Writes entries in their order; neighbours in one section share its breadcrumb.
pub(crate) fn render_entries<'a>(entries: impl IntoIterator<Item = &'a TextEntry<'a>>) -> String {
    let (mut out, mut place) = (String::new(), "");
    for entry in entries {
        if entry.place != place {
            out.push_str(&entry.place);
            place = &entry.place;
        }
        out.push_str(&entry.lines);
    }
    out
}

#[cfg(test)]
mod tests;
