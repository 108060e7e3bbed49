//! Text helpers: labels, truncation at character boundaries, white space folding, line numbers.

/// Maximum number of characters of a label.
pub(crate) const LABEL_CHARS_MAX: usize = 80;

/// Returns the first line of `text` that is not blank, white space folded, cut to 80 characters.
pub(crate) fn label_of_text(text: &str) -> String {
    let line = text.split(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("");
    fold_and_truncate(line, LABEL_CHARS_MAX)
}

/// Returns the first sentence of a line.
///
/// A sentence ends at `.`, `!` or `?` before white space and something that is no small letter, so
/// that `e.g. this` goes on, and at the [signs](is_full_stop) of other scripts. `Dr.`, `J.` and
/// numbers of lists end none.
pub(crate) fn first_sentence(line: &str) -> &str {
    for (at, mark) in line.char_indices() {
        let end = at + mark.len_utf8();
        let is_end = match mark {
            _ if is_full_stop(mark) => true,
            '.' | '!' | '?' => {
                let after = &line[end..];
                let next = after.trim_start();
                next.len() < after.len()
                    && next.chars().next().is_some_and(|it| !it.is_lowercase())
                    && !(mark == '.' && is_abbreviation(&line[..at]))
            }
            _ => false,
        };
        if is_end {
            return &line[..end];
        }
    }
    line
}

/// Returns whether a sign ends a sentence whatever follows, since its script has no other use for
/// it: `。`, `।`, `؟`.
pub(crate) fn is_full_stop(sign: char) -> bool {
    matches!(
        sign,
        '\u{589}'
            | '\u{61d}'..='\u{61f}' | '\u{6d4}' | '\u{700}'..='\u{702}' | '\u{7f9}'
            | '\u{837}' | '\u{839}' | '\u{83d}'..='\u{83e}' | '\u{964}'..='\u{965}'
            | '\u{104a}'..='\u{104b}' | '\u{1362}' | '\u{1367}'..='\u{1368}' | '\u{166e}'
            | '\u{1735}'..='\u{1736}' | '\u{17d4}'..='\u{17d5}' | '\u{1803}' | '\u{1809}'
            | '\u{1944}'..='\u{1945}' | '\u{1b5a}'..='\u{1b5b}' | '\u{1b5e}'..='\u{1b5f}'
            | '\u{1c3b}'..='\u{1c3c}' | '\u{1c7e}'..='\u{1c7f}' | '\u{203c}'..='\u{203d}'
            | '\u{2047}'..='\u{2049}' | '\u{3002}' | '\u{a4ff}' | '\u{a60e}'..='\u{a60f}'
            | '\u{a8ce}'..='\u{a8cf}' | '\u{a9c8}'..='\u{a9c9}' | '\u{abeb}'
            | '\u{fe56}'..='\u{fe57}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff61}'
    )
}

/// Returns whether a full stop after `text` belongs to its last word.
fn is_abbreviation(text: &str) -> bool {
    const ABBREVIATIONS: &[&str] =
        &["Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Nr", "vs", "cf", "Fig", "fig", "approx"];
    let word = text.rsplit(|it: char| it.is_whitespace() || it == '(').next().unwrap_or("");
    word.chars().nth(1).is_none()
        || word.contains('.')
        || word.chars().all(|it| it.is_ascii_digit())
        || ABBREVIATIONS.contains(&word)
}

/// Returns `text` with each run of white space replaced by one space, and none at the ends.
pub(crate) fn fold_whitespace(text: &str) -> String {
    if is_folded(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn is_folded(text: &str) -> bool {
    let is_gap = |it: char| it != ' ' && it.is_whitespace();
    !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ")
        && !text.bytes().any(|it| it < b' ')
        && (text.is_ascii() || !text.chars().any(is_gap))
}

/// Folds white space, then truncates, without reading beyond the cut.
pub(crate) fn fold_and_truncate(text: &str, max_chars: usize) -> String {
    // No character has more than four bytes.
    let max_bytes = 4 * (max_chars + 1);
    let head = &text[..text.ceil_char_boundary(max_bytes)];
    if is_folded(head) {
        return truncate_chars(head, max_chars);
    }
    let mut out = String::with_capacity(text.len().min(max_bytes));
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word[..word.floor_char_boundary(max_bytes)]);
        if max_chars < out.len() && out.chars().nth(max_chars).is_some() {
            break;
        }
    }
    truncate_chars(&out, max_chars)
}

/// Returns `text` cut to at most `max_chars` characters, the last one being `…` if it was longer.
pub(crate) fn truncate_chars(text: &str, max_chars: usize) -> String {
    // No character has less than a byte.
    if text.len() <= max_chars || text.chars().nth(max_chars).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max_chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    [text[..end].trim_end_matches(' '), "…"].concat()
}

/// Returns whether a character is there without being seen: directions, zero widths, fillers,
/// tags. These are those that Unicode lets a reader ignore, assigned or not, but for the 16
/// variation selectors that choose how emoji and symbols look; and annotations.
pub(crate) fn is_invisible(it: char) -> bool {
    matches!(
        it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether a character chooses the look of the one before it.
pub(crate) fn is_variation_selector(it: char) -> bool {
    matches!(it, '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether a reader would obey or hide a character, or end a line at it. Joiners are part
/// of how some scripts and emoji are written.
pub(crate) fn is_hidden(it: char) -> bool {
    let is_joiner = matches!(it, '\u{200c}' | '\u{200d}');
    it.is_control() || is_line_separator(it) || (is_invisible(it) && !is_joiner)
}

/// Returns whether a character that is no control character ends a line for some readers.
pub(crate) fn is_line_separator(it: char) -> bool {
    matches!(it, '\u{2028}' | '\u{2029}')
}

/// Returns `text` with what a terminal would obey or hide in a visible form, such as `\u{1b}`;
/// line breaks and tabs stay.
pub(crate) fn make_visible(text: &str) -> std::borrow::Cow<'_, str> {
    let is_hidden = |it: char| !matches!(it, '\n' | '\t') && is_hidden(it);
    match text.contains(is_hidden) {
        false => text.into(),
        true => {
            let shown = text.chars().flat_map(|it| match is_hidden(it) {
                true => it.escape_unicode().collect::<Vec<_>>(),
                false => vec![it],
            });
            shown.collect::<String>().into()
        }
    }
}

/// Returns the line number of a byte offset, counted from 1.
pub(crate) fn line_number_at(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let n_breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(n_breaks + 1).unwrap_or(u32::MAX)
}

pub(crate) mod cutting;
pub(crate) mod diacritic_folding;
pub(crate) mod recursive_text_splitting;
pub(crate) mod spaceless_script_bigrams;
pub(crate) mod suggest;
pub(crate) mod supplementary_index_terms;
pub(crate) mod terminal_safe_json;
pub(crate) mod thesaurus;
pub(crate) mod tokens;

#[cfg(test)]
mod tests;
