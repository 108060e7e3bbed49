//! Texts of any content, rendered as entries and as lines, and parsed by the grammar of
//! `docs/tools.md`.

use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::query::render::entry::{TextEntry, render_entries};
use crate::query::render::{
    FileNameVisibility, NodeLineFields, render_line, to_label, to_one_line,
};
use crate::store::NodeRowId;
use crate::store::reader::{NodeSummary, TextWithBreadcrumb};

/// Bytes of a day such as `2026-11-22`.
const DAY_BYTES: usize = 10;

/// An entry as a reader of an answer sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedBackEntry {
    pub(crate) under: String,
    pub(crate) id: String,
    /// The day of the last change, if it is shown.
    pub(crate) day: String,
    pub(crate) node_type: String,
    pub(crate) lang: String,
    pub(crate) text: String,
}

/// Renders nodes whose labels, paths and texts are parts of the input, and parses them back.
pub fn entries(data: &[u8]) {
    const TYPES: [&str; 4] = ["text", "heading", "code", "list"];
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\0');
    let mut nodes: Vec<(NodeSummary, TextWithBreadcrumb)> = Vec::new();
    while let Some(label) = parts.next() {
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let nth = nodes.len();
        let path = part();
        let head = NodeSummary {
            key: NodeRowId(nth as i64),
            id: format!("{:011}", nth * 7),
            parent: None,
            position: 0,
            file: None,
            path: (!path.is_empty()).then_some(path),
            node_type: TYPES[label.len() % TYPES.len()].to_owned(),
            lang: Some(part()),
            label: label.to_owned(),
            tokens: 0,
            heat: StoredHeat::birth(0),
            left_out_as: None,
            changed_at: (nth % 2 == 1).then_some(UnixMillis(nth as i64 * 86_400_000)),
        };
        nodes.push((head, TextWithBreadcrumb { breadcrumb: part(), content: part() }));
    }
    nodes.iter().for_each(|(head, _)| check_line(head));
    let rendered: Vec<TextEntry<'_>> =
        nodes.iter().map(|(head, text)| TextEntry::whole(head, text)).collect();
    let answer = render_entries(&rendered);
    for line in answer.lines().filter(|it| it.starts_with("# ")) {
        assert!(!["(id=", "(file=", "(tok="].iter().any(|it| line.contains(it)), "{line:?}");
    }
    let parsed = parse_entries(&answer);
    assert_eq!(parsed.len(), nodes.len(), "{answer:?}");
    for ((entry, parsed), (head, text)) in rendered.iter().zip(&parsed).zip(&nodes) {
        assert_eq!(parsed.id, head.id, "{answer:?}");
        assert_eq!(
            parsed.day,
            head.changed_at.map(UnixMillis::day).unwrap_or_default(),
            "{answer:?}"
        );
        assert_eq!(parsed.under, entry.breadcrumb(), "{answer:?}");
        assert_eq!(parsed.node_type, head.node_type, "{answer:?}");
        assert_eq!(parsed.text, text.content, "{answer:?}");
        if head.node_type != "heading" && head.node_type != "text" {
            let lang = head.lang.as_deref().unwrap_or_default();
            assert_eq!(parsed.lang, to_one_line(lang), "{answer:?}");
        }
    }
}

/// Renders a node as a line, and parses its label and its facts.
fn check_line(head: &NodeSummary) {
    let file = FileNameVisibility::Yes;
    let fields = NodeLineFields { head, file, temperature: 0.5, score: Some(0.9), relevance: None };
    let line = render_line(fields);
    assert!(!line.contains(['\n', '\r', '\u{85}', '\u{2028}']), "{line:?}");
    let (label, facts) = line.split_once("(id=").expect("a line has facts");
    let label = label.strip_prefix(&format!("[{}] ", head.node_type));
    let label = label.map(|it| it.strip_suffix(' ').unwrap_or(it));
    assert_eq!(label, Some(&*to_label(&head.label)), "{line:?}");
    let (id, facts) = facts.split_at(head.id.len());
    assert_eq!(id, head.id, "{line:?}");
    let (path, facts) = match facts.strip_prefix(" file=") {
        None => (None, facts),
        Some(value) => {
            let (path, facts) = parse_value(value);
            (Some(path), facts)
        }
    };
    assert_eq!(path.as_deref(), head.path.as_deref().map(to_one_line).as_deref(), "{line:?}");
    assert!(facts.starts_with(" score=0.90 "), "{line:?}");
    assert_eq!(line.matches("(id=").count(), 1, "{line:?}");
}

/// Parses the value of a fact; returns what follows it, too.
fn parse_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', ')']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut chars) = (String::new(), quoted.chars());
    while let Some(it) = chars.next() {
        match it {
            '"' => break,
            '\\' => value.extend(chars.next()),
            it => value.push(it),
        }
    }
    (value, chars.as_str())
}

/// Parses entries: lines that begin with a space belong to the text above.
pub(crate) fn parse_entries(answer: &str) -> Vec<ParsedBackEntry> {
    let (mut entries, mut under): (Vec<ParsedBackEntry>, &str) = (Vec::new(), "");
    for line in answer.split_terminator('\n') {
        if let Some(rest) = line.strip_prefix(' ') {
            let last = entries.last_mut().expect("a text follows an entry");
            last.text.push('\n');
            last.text.push_str(rest);
        } else if let Some(rest) = line.strip_prefix("# ") {
            under = rest;
        } else if let Some(entry) = entry_of(line) {
            entries.push(ParsedBackEntry { under: under.to_owned(), ..entry });
        }
    }
    for entry in entries.iter_mut().filter(|it| it.node_type == "#") {
        // A heading has the last title of its breadcrumb as its text.
        entry.node_type = "heading".to_owned();
        entry.text = entry.under.rsplit(" / ").next().unwrap_or_default().to_owned();
    }
    entries
}

/// Parses the first line of an entry; `None` for a line about something else.
fn entry_of(line: &str) -> Option<ParsedBackEntry> {
    let id_bytes = if line.starts_with("also:") { 16 } else { 11 };
    let id = line.get(..id_bytes)?;
    let is_id = id.trim_start_matches("also:").bytes().all(|it| it.is_ascii_alphanumeric());
    let mut rest = line.get(id_bytes..).filter(|_| is_id)?;
    let mut day = "";
    if let Some(after) = rest.strip_prefix('@') {
        (day, rest) = after.split_at_checked(DAY_BYTES)?;
    }
    let (mut node_type, mut lang) = ("text", String::new());
    if let Some(inside) = rest.strip_prefix("[") {
        let (kind, after) = inside.split_at(inside.find([' ', ']'])?);
        node_type = kind;
        rest = match after.strip_prefix(' ') {
            Some(quoted) if quoted.starts_with('"') => {
                let after;
                (lang, after) = parse_value(quoted);
                after
            }
            Some(bare) => {
                let (bare, _) = bare.split_once(']')?;
                lang = bare.to_owned();
                &after[1 + bare.len()..]
            }
            None => after,
        }
        .strip_prefix(']')?;
    }
    let text = match rest.strip_prefix(' ') {
        Some(text) => text,
        None if rest.is_empty() => "",
        None => return None,
    };
    let [id, day, node_type, text] = [id, day, node_type, text].map(str::to_owned);
    Some(ParsedBackEntry { under: String::new(), id, day, node_type, lang, text })
}
