//! Locates code, in spans, in fences and in elements, so that it can be skipped.

use std::collections::HashMap;

/// The code of a text, found while the text is read from left to right.
pub(super) struct CodeSpanFinder<'t> {
    text: &'t str,
    /// Start of the last run of backticks, by length.
    last_runs: HashMap<usize, usize>,
    /// Elements that no closing tag follows any more.
    unclosed: [bool; ELEMENTS.len()],
}

const ELEMENTS: [(&str, &str); 4] =
    [("<code", "</code>"), ("<pre", "</pre>"), ("<script", "</script>"), ("<!--", "-->")];

impl<'t> CodeSpanFinder<'t> {
    pub(super) fn of(text: &'t str) -> CodeSpanFinder<'t> {
        let bytes = text.as_bytes();
        let mut last_runs = HashMap::new();
        let mut at = 0;
        while at < bytes.len() {
            let n_run = run(bytes, at, b'`');
            if 0 < n_run {
                last_runs.insert(n_run, at);
            }
            at += n_run.max(1);
        }
        CodeSpanFinder { text, last_runs, unclosed: [false; ELEMENTS.len()] }
    }

    /// Returns the end of the code that begins at `at`; `None` if none begins.
    pub(super) fn skip(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match bytes[at] {
            mark @ (b'`' | b'~') => {
                let n_run = run(bytes, at, mark);
                if 3 <= n_run && begins_line(bytes, at) && self.is_fence(at, n_run, mark) {
                    return Some(self.fence_end(at + n_run, n_run, mark));
                }
                Some(if mark == b'`' { self.span_end(at, n_run) } else { at + n_run })
            }
            b'<' => self.element_end(at),
            _ => None,
        }
    }

    /// Returns the end of a code span, or of its opening if nothing closes it.
    fn span_end(&self, at: usize, n_run: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut next = at + n_run;
        if self.last_runs.get(&n_run).is_none_or(|last| *last < next) {
            return next;
        }
        while next < bytes.len() {
            let n_next = run(bytes, next, b'`');
            if n_next == n_run {
                return next + n_next;
            }
            next += n_next.max(1);
        }
        next
    }

    /// Returns whether a run that begins a line opens a fence: no backtick follows backticks.
    fn is_fence(&self, at: usize, n_run: usize, mark: u8) -> bool {
        let rest = &self.text.as_bytes()[at + n_run..];
        mark == b'~' || rest.iter().take_while(|byte| **byte != b'\n').all(|byte| *byte != b'`')
    }

    /// Returns the end of the line that closes a fence, or of the text.
    fn fence_end(&self, from: usize, n_open: usize, mark: u8) -> usize {
        let mut at = from;
        while let Some(n_line) = self.text[at..].find('\n') {
            at += n_line + 1;
            let line = self.text[at..].split('\n').next().unwrap_or("");
            let fence = line.trim_end().trim_start_matches([' ', '>']);
            if n_open <= fence.len() && fence.bytes().all(|byte| byte == mark) {
                return at + line.len();
            }
        }
        self.text.len()
    }

    fn element_end(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_open = |open: &str| {
            let head = bytes.get(at..at + open.len());
            let next = bytes.get(at + open.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(open.as_bytes()))
                && (open == "<!--" || next.is_some_and(|next| b" \t\n\r>".contains(next)))
        };
        let idx = ELEMENTS.iter().position(|(open, _)| is_open(open))?;
        if self.unclosed[idx] {
            return None;
        }
        let close = ELEMENTS[idx].1.as_bytes();
        let n_inner =
            bytes[at..].windows(close.len()).position(|head| head.eq_ignore_ascii_case(close));
        match n_inner {
            Some(n_inner) => Some(at + n_inner + close.len()),
            None => {
                self.unclosed[idx] = true;
                None
            }
        }
    }
}

/// Returns the length of the run of `mark` at `at`.
fn run(bytes: &[u8], at: usize, mark: u8) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == mark).count()
}

/// Returns whether only three spaces at most, or marks of a quote, precede `at` on its line.
fn begins_line(bytes: &[u8], at: usize) -> bool {
    let head = bytes[..at].iter().rev().take(16).position(|byte| !matches!(byte, b' ' | b'>'));
    match head {
        None => at <= 16,
        Some(n_head) => bytes[at - n_head - 1] == b'\n',
    }
}
