//! Key paths: the address of a value in its file, as code would write it: `a.b[3]["x y"]`.

use crate::text::truncate_chars;

/// Maximum bytes of a path; a deeper value has the path of its container, with `…`.
const PATH_BYTES_MAX: usize = 1000;

/// Maximum characters of a key in a path.
const KEY_CHARS_MAX: usize = 100;

/// Appends the key of a map's entry to `path`.
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

/// Appends the index in a list to `path`.
pub(super) fn push_place(path: &mut String, place: usize) {
    push(path, &format!("[{place}]"));
}

/// Appends a range of a list to `path`, its end not included.
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
