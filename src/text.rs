//! Small facts about text: cutting without splitting a character, folding white space, line
//! numbers.

/// Characters of a label, at the most.
pub(crate) const LABEL_CHARS_MAX: usize = 80;

/// The first line of `text` that has something on it, white space folded, cut to 80 characters.
pub(crate) fn label(text: &str) -> String {
    let line = text.split(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("");
    cut(&fold(line), LABEL_CHARS_MAX)
}

/// `text` with every run of white space made one space, and none at the ends.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// `text` if it has at most `max_chars` characters, else its beginning with `…` as the last one.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    if text.chars().nth(max_chars).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('…');
    out
}

/// The line of a byte offset, counted from 1.
pub(crate) fn line_at(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let n_breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(n_breaks + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_first_line_with_words() {
        assert_eq!(label("\n \n  a \t b \nc"), "a b");
    }

    #[test]
    fn cutting_counts_characters_not_bytes() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(label(&"語".repeat(100)).chars().count(), LABEL_CHARS_MAX);
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(line_at("a\nb", 0), 1);
        assert_eq!(line_at("a\nb", 2), 2);
        assert_eq!(line_at("a\nb", 99), 2);
    }
}
