//! Names of topics: which name means which topic, and the slug that stands for it in addresses.
//!
//! Names are one topic where they differ in case, in white space, hyphens and underscores between
//! words, or in how letters are composed with their marks; all others are different topics. So the
//! slug of a name of words is that name, joined by hyphens. A slug that leaves something of the
//! name out, as that of `C++`, ends with digits of the name's hash: it is no other name's slug, and
//! the same in every memory.

use serde_json::Value;
use unicode_normalization::char::is_combining_mark;

use super::entity_extraction::{name_key, normal_name};

/// Characters of a slug, at most.
const SLUG_CHARS_MAX: usize = 100;

/// Digits of the hash that end a slug which leaves something out.
const HASH_DIGITS: usize = 6;

/// How a topic has a name, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TopicNameMatch {
    Name,
    Slug,
    /// A name from before the topic was renamed.
    Former,
}

/// A text that names a topic, by its name or its slug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicNameOrSlug {
    form: String,
    keys: [String; 3],
}

impl TopicNameOrSlug {
    pub(crate) fn of(text: &str) -> TopicNameOrSlug {
        let form = topic_form(text);
        // Of a slug with a hash, topics of earlier builds have the part before it.
        let keys = [text, &form, without_hash(&form).unwrap_or(&form)].map(name_key);
        TopicNameOrSlug { form, keys }
    }

    /// Returns the hashes by which its topics are looked up; they may find others, too.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns how a topic has it, by its title and the hashes of its names.
    pub(crate) fn match_with(&self, title: &str, hashes: Option<&Value>) -> Option<TopicNameMatch> {
        if self.form == topic_form(title) {
            return Some(TopicNameMatch::Name);
        }
        if self.form == topic_slug(title) {
            return Some(TopicNameMatch::Slug);
        }
        let hashes = hashes.and_then(Value::as_array)?;
        let mut own = self.keys[..2].iter().filter(|it| !is_reduced_key(title, it));
        own.any(|key| hashes.iter().any(|it| it == key.as_str())).then_some(TopicNameMatch::Former)
    }
}

/// Returns whether a key is that of the letters and digits of a title with more than these, which
/// earlier builds kept. It may be that of another topic's name.
pub(crate) fn is_reduced_key(title: &str, key: &str) -> bool {
    let form = topic_form(title);
    let reduced = joined_runs(&form, char::is_alphanumeric);
    reduced != form && name_key(&reduced) == key
}

/// Returns the slug of a topic: letters and digits in lower case, and hyphens.
pub(crate) fn topic_slug(name: &str) -> String {
    let form = topic_form(name);
    let reduced = joined_runs(&form, |it| it.is_alphanumeric() || is_combining_mark(it));
    if reduced == form && form.chars().count() <= SLUG_CHARS_MAX {
        return form;
    }
    let kept: String = reduced.chars().take(SLUG_CHARS_MAX - 1 - HASH_DIGITS).collect();
    let digits: String = name_key(&form).chars().take(HASH_DIGITS).collect();
    joined_runs(&format!("{kept}-{digits}"), |it| it != '-')
}

/// Returns the form in which names of topics are compared.
fn topic_form(name: &str) -> String {
    let name = normal_name(name);
    let is_separator = |it: char| it.is_whitespace() || it == '-' || it == '_';
    let words = name.trim_start_matches(is_separator);
    let (before, words) = (&name[..name.len() - words.len()], words.trim_end_matches(is_separator));
    let after = &name[before.len() + words.len()..];
    format!("{before}{}{after}", joined_runs(words, |it| !is_separator(it)))
}

/// Returns the runs of some characters, joined by hyphens.
fn joined_runs(text: &str, is_of_run: impl Fn(char) -> bool) -> String {
    let runs: Vec<&str> = text.split(|it| !is_of_run(it)).filter(|it| !it.is_empty()).collect();
    runs.join("-")
}

fn without_hash(slug: &str) -> Option<&str> {
    let (rest, digits) = slug.rsplit_once('-')?;
    let is_hash = digits.len() == HASH_DIGITS && digits.chars().all(|it| it.is_ascii_hexdigit());
    is_hash.then_some(rest)
}

#[cfg(test)]
mod tests;
