//! What stands between `[[` and `]]`: a target, `#` heading, `|` alias, and parameters.

use super::{Form, Reference, WEIGHT_DEFAULT, weight};

/// Characters of an id.
const ID_CHARS: usize = 11;

/// The reference whose `[[` is at `at`: where it ends, what is stored, what it says.
pub(super) fn at(text: &str, at: usize) -> Option<(usize, String, Reference)> {
    let from = at + 2;
    let n_inner = text[from..].find(['[', ']'])?;
    text[from + n_inner..].starts_with("]]").then_some(())?;
    let (stored, reference) = parse(&text[from..from + n_inner])?;
    Some((from + n_inner + 2, stored, reference))
}

/// What is stored for `inner`, brackets and all, and what it says.
pub(super) fn parse(inner: &str) -> Option<(String, Reference)> {
    let mut segments = inner.split(';');
    let is_split = inner.split(';').skip(1).any(is_parameter);
    let head = if is_split { segments.next().unwrap_or("") } else { inner };
    let (target, alias) = split_alias(head);
    let mut alias = alias.map(str::trim).filter(|alias| !alias.is_empty()).map(str::to_owned);
    let target = target.trim();
    let name = plain(target);
    if name.is_empty() {
        return None;
    }
    let (label, heading) = split_heading(&name);
    let mut reference = Reference {
        id_hint: is_id(&name).then(|| name.clone()),
        label: label.to_owned(),
        heading: heading.map(str::to_owned),
        source: None,
        alias: None,
        weight: WEIGHT_DEFAULT,
        form: Form::Wiki,
    };
    for segment in segments.filter(|_| is_split) {
        let Some((key, value)) = segment.split_once('=') else { continue };
        let (value, late_alias) = split_alias(value);
        let value = value.trim();
        if let Some(late) = late_alias.map(str::trim).filter(|late| !late.is_empty()) {
            alias = Some(late.to_owned());
        }
        match key.trim() {
            "w" => reference.weight = weight(value).unwrap_or(reference.weight),
            "source" => reference.source = Some(value.to_owned()).filter(|it| !it.is_empty()),
            "id" => reference.id_hint = Some(value.to_owned()).filter(|it| !it.is_empty()),
            _ => (),
        }
    }
    let stored = match &alias {
        Some(alias) => {
            let escape = if inner.contains("\\|") { "\\" } else { "" };
            format!("[[{target}{escape}|{alias}]]")
        }
        None => format!("[[{}]]", target),
    };
    reference.alias = alias.map(|alias| plain(&alias)).filter(|alias| !alias.is_empty());
    Some((stored, reference))
}

/// Whether a segment is `word = …`.
fn is_parameter(segment: &str) -> bool {
    segment.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Splits at the first `|`; in a table's cell it is written `\|`.
fn split_alias(text: &str) -> (&str, Option<&str>) {
    match text.split_once('|') {
        Some((head, alias)) => (head.strip_suffix('\\').unwrap_or(head), Some(alias)),
        None => (text, None),
    }
}

/// `file#Heading` in its parts; the last heading counts. `C#` and `C# basics` are labels.
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

/// `text` on one line, without escapes, and without marks of emphasis and code in pairs.
pub(super) fn plain(text: &str) -> String {
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
    let mut out = crate::text::fold(&out);
    for mark in ["**", "__", "~~", "*", "_", "`"] {
        while 2 * mark.len() < out.len() && out.starts_with(mark) && out.ends_with(mark) {
            out = out[mark.len()..out.len() - mark.len()].trim().to_owned();
        }
    }
    for mark in ["**", "*", "`"] {
        let n_marks = out.matches(mark).count();
        if 0 < n_marks && n_marks % 2 == 0 {
            out = out.replace(mark, "");
        }
    }
    crate::text::fold(&out)
}
