//! Scans a text once for triggers and for the ends of names of secrets.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::secret_kinds::{RULES, SecretPattern};
use super::{ASSIGNMENT, assignment, secret_columns};

/// All triggers, and the row of each.
pub(super) static TRIGGERS: LazyLock<(Vec<&str>, Vec<usize>)> = LazyLock::new(|| {
    let triggers = RULES.iter().enumerate();
    triggers.flat_map(|(row, rule)| rule.triggers.iter().map(move |word| (*word, row))).unzip()
});

/// Minimum bytes of a text that is worth the fast automaton, which takes longer to build.
const LARGE_BYTES: usize = 1024;

/// Returns the automaton for a text of `n_bytes`: the fast one, if it exists already.
fn automaton(n_bytes: usize) -> &'static AhoCorasick {
    static QUICK: OnceLock<AhoCorasick> = OnceLock::new();
    static SMALL: LazyLock<AhoCorasick> =
        LazyLock::new(|| build(AhoCorasickKind::NoncontiguousNFA));
    match n_bytes < LARGE_BYTES {
        true => QUICK.get().unwrap_or_else(|| &SMALL),
        false => QUICK.get_or_init(|| build(AhoCorasickKind::DFA)),
    }
}

pub(super) fn build(kind: AhoCorasickKind) -> AhoCorasick {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).kind(Some(kind));
    builder.build(&TRIGGERS.0).expect("a test builds it")
}

/// The result of the one pass over a text.
pub(super) struct PrefilterHits {
    /// Whether each row has a trigger in the text.
    pub(super) rows: [bool; RULES.len()],
    /// Ends of words that name secrets.
    pub(super) names: Vec<usize>,
    /// Ends of words that may name columns.
    pub(super) heads: Vec<usize>,
    /// Ends of words that announce secrets of AWS.
    pub(super) aws: Vec<usize>,
}

impl PrefilterHits {
    /// Searches for all triggers at once.
    pub(super) fn in_text(text: &str) -> PrefilterHits {
        let mut hits = PrefilterHits {
            rows: [false; RULES.len()],
            names: Vec::new(),
            heads: Vec::new(),
            aws: Vec::new(),
        };
        for at in automaton(text.len()).find_overlapping_iter(text) {
            let row = TRIGGERS.1[at.pattern().as_usize()];
            let rule = &RULES[row];
            if row == ASSIGNMENT && secret_columns::is_site(text, at.end()) {
                hits.heads.push(at.end());
            }
            match rule.shape {
                SecretPattern::Assignment if assignment::is_site(text, at.end()) => {
                    hits.names.push(at.end())
                }
                SecretPattern::Assignment => continue,
                SecretPattern::AwsSecret => hits.aws.push(at.end()),
                _ if hits.rows[row] => continue,
                SecretPattern::Address(_) if !has_credentials(text, at.end()) => continue,
                SecretPattern::Token(_) | SecretPattern::Pem
                    if !rule.triggers.contains(&&text[at.range()]) =>
                {
                    continue;
                }
                SecretPattern::Token(_)
                    if &text[at.range()] == "." && !has_dots(text, at.end()) =>
                {
                    continue;
                }
                SecretPattern::Token(_)
                | SecretPattern::Pem
                | SecretPattern::Address(_)
                | SecretPattern::Header(_) => (),
            }
            hits.rows[row] = true;
        }
        hits
    }

    /// Returns whether the text has no candidates.
    pub(super) fn is_empty(&self) -> bool {
        !self.rows.contains(&true) && self.heads.is_empty()
    }
}

/// Returns whether an address whose `://` ends at `from` has a part before its host, or is a
/// webhook's.
fn has_credentials(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    let stop = |byte: &&u8| byte.is_ascii_whitespace() || b"@/\"'<>`".contains(byte);
    !text[..from].ends_with("://") || bytes[from..].iter().find(stop) == Some(&b'@')
}

/// Returns whether the second dot of a bot's token follows the first.
fn has_dots(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    bytes.get(from + 6) == Some(&b'.') || bytes.get(from + 7) == Some(&b'.')
}
