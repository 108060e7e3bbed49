//! The grammar of the manual for lines with facts and for entries.

/// Returns the ids of the facts of a text, wherever they begin.
pub(super) fn ids_of_frames(text: &str) -> Vec<String> {
    let ids = text.split("(id=").skip(1);
    ids.map(|it| it.chars().take_while(char::is_ascii_alphanumeric).collect()).collect()
}

/// Returns the facts of a line, from the first one on.
pub(super) fn facts_of(line: &str) -> Option<&str> {
    let begins = ["(id=", "(file=", "(tok="].iter().filter_map(|it| line.find(it));
    Some(&line[begins.min()? + 1..])
}

/// Returns the value of a fact, without its quotes.
pub(super) fn fact_value(facts: &str, name: &str) -> Option<String> {
    let mut rest = facts;
    loop {
        let (key, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find([' ', ')']).unwrap_or(after.len());
                (after[..end].to_owned(), &after[end..])
            }
        };
        if key == name {
            return Some(value);
        }
        rest = after.strip_prefix(' ')?;
    }
}

/// Returns the text up to the quote that ends it, and what follows.
fn unquoted(quoted: &str) -> (String, &str) {
    let (mut text, mut chars) = (String::new(), quoted.chars());
    while let Some(it) = chars.next() {
        match it {
            '"' => break,
            '\\' => text.extend(chars.next()),
            it => text.push(it),
        }
    }
    (text, chars.as_str())
}

/// Returns the number of notes behind the facts of a change: each begins with `; `, and those
/// within quotes are a part of the note.
pub(super) fn n_notes(line: &str) -> usize {
    let mut rest = facts_of(line).unwrap_or_default();
    let mut n_notes = 0;
    while let Some(at) = rest.find(['"', ';']) {
        let after = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'"' if is_value_begin(&rest[..at]) => unquoted(after).1,
            b';' => {
                n_notes += 1;
                after
            }
            _ => after,
        };
    }
    n_notes
}

/// Returns whether a value begins after a text, so that a quote there opens one.
fn is_value_begin(before: &str) -> bool {
    ["=", " from ", " to ", " was ", ": ", "→ "].iter().any(|it| before.ends_with(it))
}

/// Returns the ids of entries: lines that begin with a space belong to the text above.
pub(super) fn ids_of_entries(text: &str) -> Vec<String> {
    let entries = text.split_terminator('\n').filter(|it| !it.starts_with([' ', '…']));
    let entries = entries.filter(|it| !it.starts_with("# "));
    entries.map(|it| it[..11].to_owned()).collect()
}
