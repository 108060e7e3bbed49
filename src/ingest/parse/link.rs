//! Finds the references in a node's text.
//!
//! Their forms are `[[Label; w=2.5]]`, `[[file#Heading|alias]]`, `![[…]]`, `<knowledge>`, and
//! relative Markdown links.
//!
//! The text is read once, from left to right, before emphasis and links are: the text inside the
//! brackets may be marked up. Code, in spans and in fences, is skipped. The text itself stays as
//! authored; only labels lose the parameters, and stripping them twice changes nothing more. Time
//! is linear in the text.

mod skipped_code;
mod wiki;

use std::borrow::Cow;

use skipped_code::CodeSpanFinder;

use crate::model::links::reference::{Reference, ReferenceSyntax, WEIGHT_DEFAULT, WEIGHT_MAX};
use crate::model::tree::NodeType;

/// Maximum bytes of a tag, or of the label in an element.
const PART_BYTES_MAX: usize = 4096;

/// Maximum bytes of a link's destination and title.
const DESTINATION_BYTES_MAX: usize = 512;

/// Returns the references of a node with this text, in order. Code and the addresses of media have
/// none.
pub(crate) fn references(node_type: NodeType, content: &str) -> Vec<Reference> {
    if matches!(node_type, NodeType::Code | NodeType::Embed) || !may_refer(content) {
        return Vec::new();
    }
    extract(content)
}

/// Returns whether a text may have references: most have nothing that begins one.
fn may_refer(text: &str) -> bool {
    text.contains("[[") || text.contains("](") || text.contains('<')
}

/// Returns the references in a text, in order.
pub(crate) fn extract(text: &str) -> Vec<Reference> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut code = CodeSpanFinder::of(text);
    // Offsets of each `[` that may begin a Markdown link.
    let mut opened: Vec<usize> = Vec::new();
    let mut closing = KnowledgeEndTagFinder::default();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = code.skip(at) {
            at = end;
            continue;
        }
        match bytes[at] {
            b'\\' => at += 2,
            b'[' if bytes[at..].starts_with(b"[[") && !bytes[at..].starts_with(b"[[[") => {
                let Some((end, mut reference)) = wiki::parse_at(text, at) else {
                    opened.push(at);
                    at += 1;
                    continue;
                };
                if 0 < at && bytes[at - 1] == b'!' {
                    reference.form = ReferenceSyntax::Embed;
                }
                found.push(reference);
                at = end;
            }
            b'[' => {
                opened.push(at);
                at += 1;
            }
            b']' => {
                let open = opened.pop();
                let link = open.filter(|_| bytes.get(at + 1) == Some(&b'(')).and_then(|open| {
                    let image = 0 < open && bytes[open - 1] == b'!';
                    let (end, destination) = destination(text, at + 2)?;
                    let label = &text[open + 1..at];
                    let reference = if image { None } else { relative(label, destination) };
                    Some((end, reference))
                });
                at += 1;
                if let Some((end, reference)) = link {
                    found.extend(reference);
                    // Links do not nest.
                    opened.clear();
                    at = end;
                }
            }
            b'<' if starts_tag(&bytes[at..], b"knowledge") => {
                let Some((end, reference)) = knowledge(text, at, &mut closing) else {
                    at += 1;
                    continue;
                };
                found.push(reference);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// Returns a label without the parameters of its references, which the content keeps. A reference
/// cut off at the end loses its parameters, too.
pub(crate) fn strip_parameters(label: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut at, mut done) = (0, 0);
    while let Some(n_before) = label[at..].find("[[") {
        let open = at + n_before;
        at = open + 1;
        match wiki::bracketed(label, open) {
            Some((end, inner)) => {
                let Some(shown) = wiki::without_parameters(inner) else { continue };
                if shown != inner {
                    out.push_str(&label[done..open]);
                    out.push_str(&format!("[[{shown}]]"));
                    done = end;
                }
                at = end;
            }
            None => {
                let Some(n_kept) = wiki::cut_parameters_start(&label[open + 2..]) else { continue };
                out.push_str(&label[done..open + 2 + n_kept]);
                out.push('…');
                return Cow::Owned(out);
            }
        }
    }
    if done == 0 {
        return Cow::Borrowed(label);
    }
    out.push_str(&label[done..]);
    Cow::Owned(out)
}

/// Parses a name that was typed, with or without brackets; `None` if it names nothing.
pub(crate) fn parse_typed_name(name: &str) -> Option<Reference> {
    let inside = name.trim().strip_prefix("[[").and_then(|it| it.strip_suffix("]]"));
    inside.map_or_else(|| wiki::of_target(name), wiki::parse)
}

/// Finds the offset of the next `</knowledge`, so that each stretch of text is searched once.
#[derive(Debug, Default)]
struct KnowledgeEndTagFinder {
    /// `None` before the first search; the text's length if there is none.
    next: Option<usize>,
}

impl KnowledgeEndTagFinder {
    fn after(&mut self, text: &str, from: usize) -> Option<usize> {
        const CLOSE: &[u8] = b"</knowledge";
        if self.next.is_none_or(|next| next < from) {
            let mut heads = text.as_bytes()[from..].windows(CLOSE.len());
            let found = heads.position(|head| head.eq_ignore_ascii_case(CLOSE));
            self.next = Some(found.map_or(text.len(), |found| from + found));
        }
        self.next.filter(|next| *next < text.len())
    }
}

/// Parses the element that begins at `at`; returns its end and its reference.
fn knowledge(
    text: &str,
    at: usize,
    closing: &mut KnowledgeEndTagFinder,
) -> Option<(usize, Reference)> {
    let near = text.floor_char_boundary((at + PART_BYTES_MAX).min(text.len()));
    let tag_end = at + text[at..near].find('>')? + 1;
    let label_end = closing.after(text, tag_end)?;
    let inner = text.get(tag_end..label_end).filter(|inner| inner.len() <= PART_BYTES_MAX)?;
    let end = label_end + text[label_end..].find('>')? + 1;
    let mut reference = wiki::parse(&strip_tags(inner))?;
    reference.form = ReferenceSyntax::Knowledge;
    for (name, value) in attributes(&text[at + "<knowledge".len()..tag_end - 1]) {
        match name.as_str() {
            "weight" | "w" => reference.weight = weight(&value).unwrap_or(reference.weight),
            "source" if !value.is_empty() => reference.source = Some(value),
            "id" => reference.id_hint = Some(value).filter(|id| !id.is_empty()),
            _ => (),
        }
    }
    Some((end, reference))
}

fn starts_tag(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(1..=name.len()).is_some_and(|at| at.eq_ignore_ascii_case(name))
        && bytes.get(name.len() + 1).is_some_and(|next| b" \t\n\r/>".contains(next))
}

/// Returns the text of an element, without tags, its entities decoded.
fn strip_tags(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut depth = 0_usize;
    for at in inner.chars() {
        match at {
            '<' => depth = 1,
            '>' if 0 < depth => depth = 0,
            _ if 0 < depth => (),
            // Brackets would end the reference that the element becomes.
            '[' => out.push('('),
            ']' => out.push(')'),
            at => out.push(at),
        }
    }
    decode_entities(out.trim())
}

fn decode_entities(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Returns the attributes of a tag: names in lower case and decoded values.
fn attributes(tag: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = tag.trim_end_matches('/');
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.split_whitespace().next_back().unwrap_or("").to_ascii_lowercase();
        let after = after.trim_start();
        let (value, next) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
            _ => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        found.push((name, decode_entities(value.trim())));
        rest = next;
    }
    found
}

/// Parses a weight; `None` if it is none or out of bounds.
fn weight(text: &str) -> Option<f64> {
    let weight: f64 = text.trim().parse().ok()?;
    weight.is_finite().then(|| weight.clamp(0.0, WEIGHT_MAX))
}

/// Parses a destination that begins after `(`; returns the end of the link, too.
fn destination(text: &str, from: usize) -> Option<(usize, &str)> {
    let near = text.floor_char_boundary((from + DESTINATION_BYTES_MAX).min(text.len()));
    let part = text.get(from..near)?;
    let lead = part.len() - part.trim_start().len();
    let body = &part[lead..];
    let (destination, after) = if let Some(angled) = body.strip_prefix('<') {
        let end = angled.find(['>', '\n'])?;
        (&angled[..end], angled[end..].strip_prefix('>')?)
    } else {
        let mut depth = 0_usize;
        let end = body.char_indices().find(|(_, at)| match at {
            '(' => {
                depth += 1;
                false
            }
            ')' if 0 < depth => {
                depth -= 1;
                false
            }
            at => *at == ')' || at.is_whitespace(),
        });
        body.split_at(end?.0)
    };
    let title = after.trim_start();
    let close = match title.chars().next()? {
        ')' => title,
        quote @ ('"' | '\'') => title[1..].split_once(quote)?.1.trim_start(),
        '(' => title[1..].split_once(')')?.1.trim_start(),
        _ => return None,
    };
    let close = close.strip_prefix(')')?;
    Some((near - close.len(), destination))
}

/// Returns the reference that a link with a relative destination makes.
fn relative(label: &str, destination: &str) -> Option<Reference> {
    let scheme = destination.split(['/', '#', '?']).next().is_some_and(|head| head.contains(':'));
    if scheme || destination.starts_with(['/', '\\', '?']) || destination.is_empty() {
        return None;
    }
    let (path, fragment) = destination.split_once('#').unwrap_or((destination, ""));
    let path = decode_percent(path.split('?').next().unwrap_or(""));
    let heading = Some(decode_percent(fragment)).filter(|heading| !heading.is_empty());
    if path.is_empty() && heading.is_none() {
        return None;
    }
    let shown = wiki::strip_marks(label);
    let stem = path.rsplit('/').next().unwrap_or("");
    let named = [shown.as_str(), stem, heading.as_deref().unwrap_or("")];
    let label = named.into_iter().find(|name| !name.trim().is_empty())?;
    let label = crate::text::fold_whitespace(label);
    Some(Reference {
        label,
        source: Some(path).filter(|path| !path.is_empty()),
        id_hint: None,
        heading,
        alias: None,
        weight: WEIGHT_DEFAULT,
        form: ReferenceSyntax::Markdown,
    })
}

/// Decodes `%20` and its kin; returns `text` unchanged if the result is no text.
fn decode_percent(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests;
