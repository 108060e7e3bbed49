//! Ignore files of any content: every line is a pattern or is reported as none. Verdicts on a path
//! depend only on the lines.

use crate::ingest::ignore_patterns::{Patterns, Verdict};

/// Panics when `data` as an ignore file violates an invariant for paths made of its own lines.
pub fn ignore(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (patterns, bad) = Patterns::parse(&text);
    let n_lines = text.lines().count();
    assert!(bad.iter().all(|it| (1..=n_lines).contains(&(it.number as usize))), "{bad:?}");
    assert!(bad.windows(2).all(|it| it[0].number < it[1].number), "{bad:?}");

    // Without the faulty lines, verdicts are the same, and nothing is left to report. They are
    // emptied, not removed: a byte order mark is one only at the start of the text.
    let is_bad = |number: usize| bad.iter().any(|it| it.number as usize == number);
    let lines = text.split_inclusive('\n').zip(1..);
    let good: String = lines.map(|(line, it)| if is_bad(it) { "\n" } else { line }).collect();
    let (again, still_bad) = Patterns::parse(&good);
    assert!(still_bad.is_empty(), "{still_bad:?}");

    let is_without_signs = !text.contains('!');
    for path in text.lines().take(16).chain(["a", "a/b.md"]) {
        let path = path.trim_matches('/');
        for is_dir in [false, true] {
            let verdict = patterns.verdict(path, is_dir);
            assert_eq!(verdict, again.verdict(path, is_dir), "{path:?}");
            assert!(!is_without_signs || verdict != Verdict::Included, "{path:?}");
            assert!(n_lines != bad.len() || verdict == Verdict::NoMatch, "{path:?}");
        }
    }
}
