//! The one pass over a text: which triggers are in it, and where names of secrets end.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;

use super::kinds::{RULES, Shape};
use super::{ASSIGNMENT, keyword, table};

/// All triggers, and the row that each belongs to.
pub(super) static TRIGGERS: LazyLock<(DFA, Vec<usize>)> = LazyLock::new(|| {
    let triggers = RULES.iter().enumerate();
    let (words, rows): (Vec<&str>, Vec<usize>) =
        triggers.flat_map(|(row, rule)| rule.triggers.iter().map(move |word| (*word, row))).unzip();
    let automaton = DFA::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .expect("a test builds it");
    (automaton, rows)
});

/// What the one pass over a text tells.
pub(super) struct Sites {
    /// By row: whether one of its triggers is there.
    pub(super) rows: [bool; RULES.len()],
    /// Where words end that name secrets.
    pub(super) names: Vec<usize>,
    /// Where words end that may name columns.
    pub(super) heads: Vec<usize>,
    /// Where words end that announce secrets of AWS.
    pub(super) aws: Vec<usize>,
}

impl Sites {
    /// Looks for all triggers at once.
    pub(super) fn in_text(text: &str) -> Sites {
        let mut sites = Sites {
            rows: [false; RULES.len()],
            names: Vec::new(),
            heads: Vec::new(),
            aws: Vec::new(),
        };
        let (automaton, rows) = &*TRIGGERS;
        let start = automaton.start_state(Anchored::No);
        let mut state = start.expect("automata are for searches that are not anchored");
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            state = automaton.next_state(Anchored::No, state, byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                for nth in 0..automaton.match_len(state) {
                    let pattern = automaton.match_pattern(state, nth);
                    let end = at + 1;
                    let word = end - automaton.pattern_len(pattern)..end;
                    sites.note(text, rows[pattern.as_usize()], word);
                }
            }
        }
        sites
    }

    /// Whether there is nothing to look at.
    pub(super) fn is_empty(&self) -> bool {
        !self.rows.contains(&true) && self.heads.is_empty()
    }

    /// A trigger of that row is there.
    fn note(&mut self, text: &str, row: usize, word: Range<usize>) {
        let rule = &RULES[row];
        let end = word.end;
        if row == ASSIGNMENT && table::is_site(text, end) {
            self.heads.push(end);
        }
        match rule.shape {
            Shape::Assignment if keyword::is_site(text, end) => self.names.push(end),
            Shape::Assignment => return,
            Shape::AwsSecret => self.aws.push(end),
            _ if self.rows[row] => return,
            Shape::Address(_) if !has_credentials(text, end) => return,
            Shape::Token(_) | Shape::Pem if !rule.triggers.contains(&&text[word.clone()]) => return,
            Shape::Token(_) if &text[word] == "." && !has_dots(text, end) => return,
            Shape::Token(_) | Shape::Pem | Shape::Address(_) | Shape::Header(_) => (),
        }
        self.rows[row] = true;
    }
}

/// Whether an address whose `://` ends at `from` has a part before its host, or is a webhook's.
fn has_credentials(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    let stop = |byte: &&u8| byte.is_ascii_whitespace() || b"@/\"'<>`".contains(byte);
    !text[..from].ends_with("://") || bytes[from..].iter().find(stop) == Some(&b'@')
}

/// Whether the second dot of a bot's token follows the first.
fn has_dots(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    bytes.get(from + 6) == Some(&b'.') || bytes.get(from + 7) == Some(&b'.')
}
