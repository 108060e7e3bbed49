//! Key paths: where a value stands in its file, as one would write it in code: `a.b[3]["x y"]`.

use crate::text::truncate_chars;

/// Bytes of a path; what is deeper has the path of what it is in, with `…`.
const PATH_BYTES_MAX: usize = 1000;

/// Characters of a key in a path.
const KEY_CHARS_MAX: usize = 100;

/// `path` with the key of a map's entry.
pub(super) fn push_key(path: &mut String, key: &str) {
    let is_plain = key.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
        && key.chars().nth(KEY_CHARS_MAX).is_none();
    let key = truncate_chars(key, KEY_CHARS_MAX);
    let step = match (is_plain, path.is_empty()) {
        (true, true) => key,
        (true, false) => format!(".{key}"),
        (false, _) => format!("[{key:?}]"),
    };
    push(path, &step);
}

/// `path` with the place in a list.
pub(super) fn push_place(path: &mut String, place: usize) {
    push(path, &format!("[{place}]"));
}

/// `path` with a stretch of a list, its end not included.
pub(super) fn push_range(path: &mut String, places: &std::ops::Range<usize>) {
    push(path, &format!("[{}..{}]", places.start, places.end));
}

fn push(path: &mut String, step: &str) {
    if path.len() + step.len() <= PATH_BYTES_MAX {
        path.push_str(step);
    } else if !path.ends_with('…') {
        path.push('…');
    }
}
