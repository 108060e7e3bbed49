//! Numbers that tell redacted paths apart which would be equal: `PATH`, `PATH (2)`.

use super::MARKER;

/// Returns the first of `PATH`, `PATH (2)` and so on that `take` takes.
pub(crate) fn number_redacted(path: &str, mut take: impl FnMut(&str) -> bool) -> String {
    let mut numbered = path.to_owned();
    let mut nth = 1;
    while !take(&numbered) {
        nth += 1;
        numbered = format!("{path} ({nth})");
    }
    numbered
}

/// Returns the redacted path before a number, and the number.
pub(crate) fn split_redacted_number(path: &str) -> Option<(&str, u64)> {
    let (path, number) = path.strip_suffix(')')?.rsplit_once(" (")?;
    if path.contains(MARKER) { Some((path, number.parse().ok()?)) } else { None }
}
