//! Parses MDX: Markdown with statements, kept as code, and components, kept as markup.

use std::ops::Range;

use super::Parsed;

/// Minimum backticks of a fence, so that no statement contains it.
const FENCE_MIN: usize = 4;

/// Maximum lines of a statement.
const STATEMENT_LINES_MAX: usize = 500;

/// Parses an MDX file: fences the statements, then calls the Markdown parser.
pub(super) fn parse(source: &str, markdown: fn(&str) -> Parsed) -> Parsed {
    let (masked, inserted_lines) = mask(source);
    if inserted_lines.is_empty() {
        return markdown(source);
    }
    let mut parsed = markdown(&masked);
    for node in &mut parsed.tree.nodes {
        let start = unmasked(&inserted_lines, node.span.start, source);
        let end = unmasked(&inserted_lines, node.span.end, source);
        node.span = start..end.max(start);
    }
    let lines = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count();
    for warning in &mut parsed.warnings {
        // Every fence is a line that the source does not have.
        let n_added = inserted_lines
            .iter()
            .filter(|inserted_line| {
                lines(&masked[..inserted_line.masked.start]) + 1 < warning.line as usize
            })
            .count();
        warning.line = warning.line.saturating_sub(u32::try_from(n_added).unwrap_or(0)).max(1);
    }
    parsed
}

/// An inserted line of the masked text, and its place in the source.
struct InsertedLine {
    masked: Range<usize>,
    source: usize,
}

/// Returns the source with fences around its statements.
fn mask(source: &str) -> (String, Vec<InsertedLine>) {
    let mut masked = String::with_capacity(source.len());
    let mut inserted_lines = Vec::new();
    let mut at = 0;
    let mut fence: Option<String> = None;
    let mut is_after_blank = true;
    while at < source.len() {
        let end = source[at..].find('\n').map_or(source.len(), |len| at + len + 1);
        let line = &source[at..end];
        if let Some(open) = &fence {
            if line.trim_start().starts_with(open.as_str()) {
                fence = None;
            }
        } else if let Some(open) = opens_fence(line) {
            fence = Some(open);
        } else if is_after_blank && is_statement(line) {
            let end = statement_end(source, at);
            add_fenced(&mut masked, &mut inserted_lines, source, at..end);
            at = end;
            is_after_blank = true;
            continue;
        }
        is_after_blank = matches!(line.trim(), "" | "---");
        masked.push_str(line);
        at = end;
    }
    (masked, inserted_lines)
}

fn add_fenced(
    masked: &mut String,
    inserted_lines: &mut Vec<InsertedLine>,
    source: &str,
    range: Range<usize>,
) {
    let words = &source[range.clone()];
    let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(FENCE_MIN.max(longest + 1));
    let mut add = |masked: &mut String, line: &str, source: usize| {
        let start = masked.len();
        masked.push_str(line);
        inserted_lines.push(InsertedLine { masked: start..masked.len(), source });
    };
    add(masked, &format!("{fence}js\n"), range.start);
    masked.push_str(words);
    let lead = if words.ends_with('\n') { "" } else { "\n" };
    add(masked, &format!("{lead}{fence}\n"), range.end);
}

/// Returns the fence that a line of Markdown opens, if it does.
fn opens_fence(line: &str) -> Option<String> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let len = line.chars().take_while(|&c| c == mark).count();
    (3 <= len).then(|| mark.to_string().repeat(len))
}

fn is_statement(line: &str) -> bool {
    ["import ", "import{", "export ", "export{"].iter().any(|it| line.starts_with(it))
        && (line.starts_with("export")
            || line.contains(" from ")
            || line.contains(['"', '\''])
            || line.contains('{'))
}

/// Returns the end of a statement: a blank line, once its braces are closed.
fn statement_end(source: &str, start: usize) -> usize {
    let mut n_open = 0_i64;
    let mut at = start;
    let mut at_blank = None;
    for _ in 0..STATEMENT_LINES_MAX {
        if source.len() <= at {
            break;
        }
        let end = source[at..].find('\n').map_or(source.len(), |len| at + len + 1);
        let line = &source[at..end];
        if line.trim().is_empty() {
            at_blank = at_blank.or(Some(at));
            if n_open <= 0 {
                return at;
            }
        }
        for byte in line.bytes() {
            n_open += i64::from(matches!(byte, b'{' | b'(' | b'['));
            n_open -= i64::from(matches!(byte, b'}' | b')' | b']'));
        }
        at = end;
    }
    // A statement with open braces ends at its first blank line.
    if 0 < n_open { at_blank.unwrap_or(at) } else { at }
}

/// Maps an offset of the masked text to the source.
fn unmasked(inserted_lines: &[InsertedLine], offset: usize, source: &str) -> usize {
    let n_before =
        inserted_lines.partition_point(|inserted_line| inserted_line.masked.start <= offset);
    let Some(inserted_line) = n_before.checked_sub(1).map(|at| &inserted_lines[at]) else {
        return offset;
    };
    let behind = offset.saturating_sub(inserted_line.masked.end);
    source.floor_char_boundary((inserted_line.source + behind).min(source.len()))
}
