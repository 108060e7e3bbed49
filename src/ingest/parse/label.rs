//! Labels: one line of plain text, at most 80 characters, that summarizes a node.

use pulldown_cmark::{Event, Options, Parser};

use crate::text::{LABEL_CHARS_MAX, fold_whitespace, truncate_chars};

/// Maximum bytes of a text that a label is made from.
const SOURCE_BYTES_MAX: usize = 4096;

/// Returns the first line of code, after its language: `Code (sh): make`.
pub(crate) fn of_code(info: &str, code: &str) -> String {
    let line = first_line(code);
    let info = fold_whitespace(head(info, SOURCE_BYTES_MAX));
    titled(&if info.is_empty() { "Code".to_owned() } else { format!("Code ({info})") }, &line)
}

/// Returns `title: line`, or the title alone if the line is empty.
pub(crate) fn titled(title: &str, line: &str) -> String {
    match line.is_empty() {
        true => truncate_chars(title, LABEL_CHARS_MAX),
        false => {
            truncate_chars(&format!("{title}: {}", head(line, SOURCE_BYTES_MAX)), LABEL_CHARS_MAX)
        }
    }
}

/// Returns the columns and the size of a table: `Table: a, b (2 rows)`; the size is never cut off.
pub(crate) fn of_table(columns: &[String], n_rows: usize) -> String {
    let size = format!(" ({n_rows} {})", if n_rows == 1 { "row" } else { "rows" });
    let mut names = String::new();
    for column in columns.iter().filter(|column| !column.is_empty()) {
        names.push_str(if names.is_empty() { ": " } else { ", " });
        names.push_str(column);
        if SOURCE_BYTES_MAX < names.len() {
            break;
        }
    }
    truncate_chars(&format!("Table{names}"), LABEL_CHARS_MAX - size.chars().count()) + &size
}

/// Returns the label of rendered Markdown; `plain` is its first line without marks, if known.
pub(crate) fn of_rendered(plain: &str, markdown: &str) -> String {
    match plain.is_empty() {
        true => of_markdown(markdown),
        false => truncate_chars(plain, LABEL_CHARS_MAX),
    }
}

/// Returns the first line of rendered Markdown, without its marks.
pub(crate) fn of_markdown(markdown: &str) -> String {
    let look = head(markdown, SOURCE_BYTES_MAX);
    for line in look.lines() {
        let mut words = String::new();
        for event in Parser::new_ext(line.trim(), Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Text(text) | Event::Code(text) => words.push_str(&text),
                Event::SoftBreak | Event::HardBreak | Event::End(_) => words.push(' '),
                _ => (),
            }
            if LABEL_CHARS_MAX * 4 < words.len() {
                break;
            }
        }
        if !words.trim().is_empty() {
            return truncate_chars(&fold_whitespace(&words), LABEL_CHARS_MAX);
        }
    }
    truncate_chars(&first_line(look), LABEL_CHARS_MAX)
}

/// Returns the first line of markup that has text outside of tags, else its first line.
pub(crate) fn of_markup(html: &str) -> String {
    let look = head(html, SOURCE_BYTES_MAX);
    let mut words = String::new();
    let mut rest = look;
    while let Some(open) = rest.find('<') {
        words.push_str(&rest[..open]);
        let tag = &rest[open..];
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        rest = tag.find(end).map_or("", |at| &tag[at + end.len()..]);
    }
    words.push_str(rest);
    let line = first_line(&words);
    truncate_chars(&if line.is_empty() { first_line(look) } else { line }, LABEL_CHARS_MAX)
}

/// Returns the first line that is not blank, white space folded, of any length.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.split(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("");
    fold_whitespace(head(line.trim_start(), SOURCE_BYTES_MAX))
}

/// Returns at most `max` bytes of `text`, whole characters.
fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}
