//! Hits for a terminal: the words that match stand out, ids and figures step back.

use crate::cli::color::{PaintedText, TextRole};
use crate::model::identity::NodeId;
use crate::query::matched_places;

/// Paints the lines of an answer to `query`.
pub(super) fn paint_hits(text: &str, query: &str) -> PaintedText {
    let mut painted = PaintedText::default();
    for line in text.split('\n') {
        paint_line(line, query, &mut painted);
        painted.push("\n");
    }
    painted
}

/// Paints a line: of a hit, `[type] label (id=… …)`, of an entry, `id[type] text`, or of a text.
fn paint_line(line: &str, query: &str, painted: &mut PaintedText) {
    let (head, rest) = match line.find("] ") {
        Some(end) if line.trim_start().starts_with('[') => line.split_at(end + 1),
        _ => line.split_at(entry_head_len(line)),
    };
    let (label, figures) = match rest.rfind(" (id=") {
        Some(start) if rest.ends_with(')') => rest.split_at(start),
        _ => (rest, ""),
    };
    painted.paint(TextRole::Dim, head);
    let mut shown = 0;
    for place in matched_places(label, query) {
        painted.push(&label[shown..place.start]);
        painted.paint(TextRole::Match, &label[place.clone()]);
        shown = place.end;
    }
    painted.push(&label[shown..]);
    painted.paint(TextRole::Dim, figures);
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
        let painted = paint_hits(line, query);
        let mark = |(role, text): (Option<TextRole>, &str)| match (role, text) {
            (None, _) | (_, "") => text.to_owned(),
            (Some(TextRole::Match), _) => format!("<{text}|"),
            (Some(_), _) => format!("{{{text}|"),
        };
        painted.pieces().map(mark).collect()
    }

    #[test]
    fn matched_words_stand_out_and_figures_step_back() {
        assert_eq!(
            shown("[text] A text of valves. (id=AcTRirZSwQh file=text.md tok=12)", "text valve"),
            "{[text]| A <text| of <valves|.{ (id=AcTRirZSwQh file=text.md tok=12)|\n"
        );
        assert_eq!(shown("a text\nof two lines", "two"), "a text\nof <two| lines\n");
        assert_eq!(
            shown("# a.md / Valves\nAcTRirZSwQh[code sh] make valves\n make all", "valve make"),
            "{# a.md / Valves|\n{AcTRirZSwQh[code sh]| <make| <valves|\n <make| all\n"
        );
        assert_eq!(paint_hits("a text", "text").plain(), "a text\n");
    }
}
