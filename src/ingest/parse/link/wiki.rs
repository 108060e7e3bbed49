//! Parses the text between `[[` and `]]`: a target, `#` heading, `|` alias, and parameters.

use super::{Reference, ReferenceSyntax, WEIGHT_DEFAULT, weight};

/// Number of characters of an id.
const ID_CHARS: usize = 11;

/// Parses the reference whose `[[` is at `at`; returns its end, too.
pub(super) fn parse_at(text: &str, at: usize) -> Option<(usize, Reference)> {
    let (end, inner) = bracketed(text, at)?;
    Some((end, parse(inner)?))
}

/// Returns the end of the wikilink whose `[[` is at `at`, and the text between its brackets.
pub(super) fn bracketed(text: &str, at: usize) -> Option<(usize, &str)> {
    let from = at + 2;
    let n_inner = text[from..].find(['[', ']'])?;
    text[from + n_inner..].starts_with("]]").then_some(())?;
    Some((from + n_inner + 2, &text[from..from + n_inner]))
}

/// Parses the text between the brackets.
pub(super) fn parse(inner: &str) -> Option<Reference> {
    let WikilinkParts { target, mut alias, parameters } = split(inner);
    let mut reference = of_target(target)?;
    for segment in parameters {
        let Some((key, value)) = segment.split_once('=') else { continue };
        let (value, late_alias) = split_alias(value);
        let value = value.trim();
        alias = late_alias.or(alias);
        match key.trim() {
            "w" => reference.weight = weight(value).unwrap_or(reference.weight),
            "source" => reference.source = Some(value.to_owned()).filter(|it| !it.is_empty()),
            "id" => reference.id_hint = Some(value.to_owned()).filter(|it| !it.is_empty()),
            _ => (),
        }
    }
    reference.alias = alias.map(|it| strip_marks(it.text)).filter(|alias| !alias.is_empty());
    Some(reference)
}

/// Returns the reference that a target makes.
pub(super) fn of_target(target: &str) -> Option<Reference> {
    let name = strip_marks(target);
    if name.is_empty() {
        return None;
    }
    let (label, heading) = split_heading(&name);
    Some(Reference {
        id_hint: is_id(&name).then(|| name.clone()),
        label: label.to_owned(),
        heading: heading.map(str::to_owned),
        source: None,
        alias: None,
        weight: WEIGHT_DEFAULT,
        form: ReferenceSyntax::Wiki,
    })
}

/// Returns `inner` as a label shows it, without parameters; `None` if it is no reference.
pub(super) fn without_parameters(inner: &str) -> Option<String> {
    let WikilinkParts { target, mut alias, parameters } = split(inner);
    if strip_marks(target).is_empty() {
        return None;
    }
    for (_, value) in parameters.filter_map(|it| it.split_once('=')) {
        alias = split_alias(value).1.or(alias);
    }
    Some(match alias {
        // A backslash in front of a bar escapes it, whatever it was before.
        Some(WikilinkAlias { bar: "|", text }) if target.ends_with('\\') => {
            format!("{}\\|{text}", target[..target.len() - 1].trim_end())
        }
        Some(WikilinkAlias { bar, text }) => format!("{target}{bar}{text}"),
        None => target.to_owned(),
    })
}

/// Returns the bytes before the first parameter of a reference that was cut off; `None` if it has
/// none.
pub(super) fn cut_parameters_start(inner: &str) -> Option<usize> {
    let is_open = inner.ends_with('…') && !inner.contains(['[', ']']);
    let mut at = inner.split(';').next()?.len();
    is_open.then_some(())?;
    for segment in inner.split(';').skip(1) {
        if is_parameter(segment) {
            return Some(inner[..at].trim_end().len());
        }
        at += 1 + segment.len();
    }
    None
}

/// The parts of the text between the brackets.
struct WikilinkParts<'t, P: Iterator<Item = &'t str>> {
    target: &'t str,
    alias: Option<WikilinkAlias<'t>>,
    parameters: P,
}

/// The text of a wikilink that is shown instead of the target, never empty.
struct WikilinkAlias<'t> {
    /// The bar before it, as authored.
    bar: &'static str,
    text: &'t str,
}

fn split(inner: &str) -> WikilinkParts<'_, impl Iterator<Item = &str>> {
    let is_split = inner.split(';').skip(1).any(is_parameter);
    let head = if is_split { inner.split(';').next().unwrap_or("") } else { inner };
    let (target, alias) = split_alias(head);
    WikilinkParts {
        target: target.trim(),
        alias,
        parameters: inner.split(';').skip(1).filter(move |_| is_split),
    }
}

/// Returns whether a segment is `word = …`.
fn is_parameter(segment: &str) -> bool {
    segment.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Splits at the first `|`, written `\|` in a table's cell.
fn split_alias(text: &str) -> (&str, Option<WikilinkAlias<'_>>) {
    let Some((head, alias)) = text.split_once('|') else { return (text, None) };
    let (head, bar) = match head.strip_suffix('\\') {
        Some(head) => (head, "\\|"),
        None => (head, "|"),
    };
    let text = alias.trim();
    (head, (!text.is_empty()).then_some(WikilinkAlias { bar, text }))
}

/// Splits `file#Heading` at the last heading. `C#` and `C# basics` are labels.
fn split_heading(name: &str) -> (&str, Option<&str>) {
    let Some((label, heading)) = name.split_once('#') else { return (name, None) };
    if heading.is_empty() || heading.starts_with([' ', '#']) {
        return (name, None);
    }
    let last = heading.rsplit('#').next().unwrap_or(heading).trim();
    match (label.trim(), last) {
        (_, "") => (name, None),
        // A heading of the same file.
        ("", last) => (last, None),
        (label, last) => (label, Some(last)),
    }
}

fn is_id(name: &str) -> bool {
    name.len() == ID_CHARS && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns `text` on one line, without escapes and without paired marks of emphasis and code.
pub(super) fn strip_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(at) = rest.next() {
        match rest.peek() {
            Some(next) if at == '\\' && next.is_ascii_punctuation() => {
                out.extend(rest.next());
            }
            _ => out.push(at),
        }
    }
    let out = crate::text::fold_whitespace(&out);
    let mut inside = &out[..];
    for mark in ["**", "__", "~~", "*", "_", "`"] {
        while 2 * mark.len() < inside.len() && inside.starts_with(mark) && inside.ends_with(mark) {
            inside = inside[mark.len()..inside.len() - mark.len()].trim();
        }
    }
    let mut out = inside.to_owned();
    for mark in ["**", "*", "`"] {
        let n_marks = out.matches(mark).count();
        if 0 < n_marks && n_marks % 2 == 0 {
            out = out.replace(mark, "");
        }
    }
    crate::text::fold_whitespace(&out)
}
