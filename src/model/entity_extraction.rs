//! Entities: the things that a text names, picked up by their marks without a model.
//!
//! Marks are backticks, paths, addresses of the web and `@names`. A name is compared in
//! [`normal_name`]: equal names mean one entity, whatever its kind.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::identity::ContentHash;
use super::typed_node_field_schemas::knowledge::ENTITY_KINDS;

/// Entities that one text yields, at most.
pub(crate) const PICKED_MAX: usize = 32;

/// Characters of a name that is picked up, at most.
const NAME_CHARS_MAX: usize = 100;

/// Words of a text that are compared with known names, at most.
const WORDS_MAX: usize = 400;

/// Words of a known name that a text is searched for, at most.
const NAME_WORDS_MAX: usize = 3;

/// Words that name no entity before a colon.
const LEADING_LABELS: &[&str] =
    &["entity", "role", "position", "title", "official", "government official", "job"];

/// A thing that a text names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedEntity {
    /// One of [`ENTITY_KINDS`].
    pub(crate) kind: &'static str,
    /// As written.
    pub(crate) name: String,
}

impl NamedEntity {
    /// Parses `kind:name`; without a known kind, the kind follows from the name.
    pub(crate) fn parse(text: &str) -> Option<NamedEntity> {
        let mut rest = fold_spaces(text);
        let mut given = None;
        while let Some((label, name)) = rest.split_once(':') {
            let label = label.trim().to_lowercase();
            let kind = ENTITY_KINDS.iter().find(|it| **it == label).copied();
            let is_label = kind.is_some() || LEADING_LABELS.contains(&label.as_str());
            if !is_label || name.trim().is_empty() {
                break;
            }
            given = given.or(kind);
            rest = name.trim().to_owned();
        }
        let name = rest.trim().to_owned();
        let kind = given.unwrap_or_else(|| kind_of(&name));
        (!name.is_empty()).then_some(NamedEntity { kind, name })
    }
}

/// Returns the form in which names are compared: in lower case, single spaces, letters composed
/// with their accents.
pub(crate) fn normal_name(name: &str) -> String {
    composed(&fold_spaces(name).to_lowercase()).into_owned()
}

/// Returns the form in which statements are compared: verbatim but for white space and for how
/// accents are encoded.
pub(crate) fn normal_statement(text: &str) -> String {
    composed(&fold_spaces(text)).into_owned()
}

/// Returns a text with its letters composed with their accents (NFC).
fn composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfc().collect()),
    }
}

/// Returns the hash by which a name is looked up. The name itself stands where redaction reads it,
/// and in no other spelling.
pub(crate) fn name_key(name: &str) -> String {
    ContentHash::of(&normal_name(name)).to_string()
}

/// Returns the things that a text marks, in its order, each once.
pub(crate) fn marked_entities(text: &str) -> Vec<NamedEntity> {
    let mut found: Vec<NamedEntity> = Vec::new();
    let mut add = |entity: Option<NamedEntity>| {
        if let Some(entity) = entity.filter(|_| found.len() < PICKED_MAX)
            && !found.iter().any(|it| normal_name(&it.name) == normal_name(&entity.name))
        {
            found.push(entity);
        }
    };
    for (nth, part) in composed(text).split('`').enumerate() {
        if nth % 2 == 1 {
            let is_name = !part.trim().is_empty()
                && part.chars().count() <= NAME_CHARS_MAX
                && part.split_whitespace().count() <= NAME_WORDS_MAX
                && part.contains(char::is_alphabetic);
            add(is_name.then(|| NamedEntity::parse(part)).flatten());
            continue;
        }
        part.split_whitespace().for_each(|word| add(marked_word(word)));
    }
    found
}

/// Returns the entity that a word is by its own marks.
fn marked_word(word: &str) -> Option<NamedEntity> {
    let word = word.trim_matches(|it: char| !it.is_alphanumeric() && !"@/._~".contains(it));
    let word = word.trim_end_matches(['.', ',']);
    if NAME_CHARS_MAX < word.chars().count() || word.contains('«') || word.contains('»') {
        return None;
    }
    let of = |kind, name: &str| Some(NamedEntity { kind, name: name.to_owned() });
    if let Some(name) = word.strip_prefix('@') {
        let is_name = name.chars().next().is_some_and(char::is_alphabetic)
            && name.chars().all(|it| it.is_alphanumeric() || "-_.".contains(it));
        return if is_name { of("person", name) } else { None };
    }
    if word.starts_with("http://") || word.starts_with("https://") {
        let rest = word.split_once("://")?.1.trim_end_matches('/');
        return if rest.contains('.') { of("other", rest) } else { None };
    }
    if is_path(word) { of("file", word) } else { None }
}

/// Returns whether a word is a path: it has a folder, and its last part an ending of letters.
fn is_path(word: &str) -> bool {
    let Some((folder, name)) = word.rsplit_once('/') else { return false };
    let is_plain = word.chars().all(|it| it.is_alphanumeric() || "/._-~+@".contains(it));
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.chars().any(|it| it.is_ascii_alphabetic())
            && ending.chars().all(|it| it.is_ascii_alphanumeric())
    });
    is_plain && has_ending && !folder.contains("//")
}

/// Returns the kind that a name suggests.
fn kind_of(name: &str) -> &'static str {
    let has_ending = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && (1..=4).contains(&ending.len())
                && ending.chars().all(|it| it.is_ascii_lowercase())
        })
    };
    let is_word = !name.contains(char::is_whitespace);
    let n_upper = name.chars().filter(|it| it.is_uppercase()).count();
    match name {
        _ if is_path(name) || is_word && has_ending(name) => "file",
        _ if name.ends_with("()") => "function",
        _ if name.contains("::") => "module",
        _ if is_word
            && 1 < n_upper
            && name.starts_with(char::is_uppercase)
            && name.contains(char::is_lowercase) =>
        {
            "class"
        }
        _ => "subject",
    }
}

/// Returns the runs of one to three words of a text in the form of names, to be looked up among the
/// names that are known.
pub(crate) fn possible_names(text: &str) -> BTreeSet<String> {
    let is_inner =
        |it: char| it.is_alphanumeric() || is_combining_mark(it) || "-_./@+#".contains(it);
    let words: Vec<String> = composed(text)
        .split(|it: char| !is_inner(it))
        .map(|it| it.trim_matches(['.', '/', '-', '@']).trim_start_matches(['+', '#']))
        .map(|it| composed(&it.to_lowercase()).into_owned())
        .filter(|it| !it.is_empty())
        .take(WORDS_MAX)
        .collect();
    let mut names = BTreeSet::new();
    for at in 0..words.len() {
        for n_words in 1..=NAME_WORDS_MAX.min(words.len() - at) {
            let name = words[at..at + n_words].join(" ");
            if 2 < name.chars().count() {
                names.insert(name);
            }
        }
    }
    names
}

fn fold_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
