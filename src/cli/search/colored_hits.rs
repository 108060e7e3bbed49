//! Hits for a terminal: the words that match stand out, ids and figures step back.

use crate::cli::color::{ColorSupport, TextRole};
use crate::model::identity::NodeId;
use crate::query::matched_places;

/// Paints the text of an answer to `query`.
pub(super) fn paint_hits(text: &str, query: &str, paint: ColorSupport) -> String {
    if paint == ColorSupport::Plain {
        return text.to_owned();
    }
    let lines: Vec<String> = text.split('\n').map(|it| paint_line(it, query, paint)).collect();
    lines.join("\n")
}

/// Paints a line: of a hit, `[type] label (id=… …)`, of an entry, `id[type] text`, or of a text.
fn paint_line(line: &str, query: &str, paint: ColorSupport) -> String {
    let (head, rest) = match line.find("] ") {
        Some(end) if line.trim_start().starts_with('[') => line.split_at(end + 1),
        _ => line.split_at(entry_head_len(line)),
    };
    let (label, figures) = match rest.rfind(" (id=") {
        Some(start) if rest.ends_with(')') => rest.split_at(start),
        _ => (rest, ""),
    };
    let dim = |text: &str| match text {
        "" => String::new(),
        text => paint.paint(TextRole::Dim, text),
    };
    let mut painted = dim(head);
    let mut shown = 0;
    for place in matched_places(label, query) {
        painted += &label[shown..place.start];
        painted += &paint.paint(TextRole::Match, &label[place.clone()]);
        shown = place.end;
    }
    painted + &label[shown..] + &dim(figures)
}

/// Returns the length of the framing at the start of a line of entries: all of a breadcrumb, or the
/// id and the type of an entry.
fn entry_head_len(line: &str) -> usize {
    if line.starts_with("# ") {
        return line.len();
    }
    let id = line.find(['[', ' ']).unwrap_or(line.len());
    match NodeId::parse(line[..id].split('@').next().unwrap_or_default()) {
        None => 0,
        Some(_) if line[id..].starts_with('[') => line.find(']').map_or(id, |it| it + 1),
        Some(_) => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, query: &str) -> String {
        let painted = paint_hits(line, query, ColorSupport::Ansi);
        painted.replace("\x1b[1;31m", "<").replace("\x1b[2m", "{").replace("\x1b[0m", "|")
    }

    #[test]
    fn matched_words_stand_out_and_figures_step_back() {
        assert_eq!(
            shown("[text] A text of valves. (id=AcTRirZSwQh file=text.md tok=12)", "text valve"),
            "{[text]| A <text| of <valves|.{ (id=AcTRirZSwQh file=text.md tok=12)|"
        );
        assert_eq!(shown("a text\nof two lines", "two"), "a text\nof <two| lines");
        assert_eq!(
            shown("# a.md / Valves\nAcTRirZSwQh[code sh] make valves\n make all", "valve make"),
            "{# a.md / Valves|\n{AcTRirZSwQh[code sh]| <make| <valves|\n <make| all"
        );
        assert_eq!(paint_hits("a text", "text", ColorSupport::Plain), "a text");
    }
}
