//! Statistics as text, for the statistics tool and `inspect`.

use super::render_count;
use crate::model::clock::UnixMillis;
use crate::store::reader::Stats;

/// Columns of the labels at the left margin.
const LABEL_COLUMNS: usize = 21;
/// Columns of the labels on a branch.
const BRANCH_COLUMNS: usize = 14;
/// Characters of a cursor hash.
const CURSOR_CHARS_MAX: usize = 16;

/// Characters of a snapshot's message.
const MESSAGE_CHARS_MAX: usize = 80;

/// The reader of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// An agent: plain characters, exact numbers.
    Agent,
    /// A person at a terminal: a heading, short numbers.
    Person,
}

/// Renders the statistics, ending in a line break.
pub(crate) fn render_stats(stats: &Stats, reader: Audience, now: UnixMillis) -> String {
    let number = |n: u64| match reader {
        Audience::Agent => n.to_string(),
        Audience::Person => render_count(n),
    };
    let mut out = String::new();
    let name = if stats.database().is_empty() { ":memory:" } else { stats.database() };
    let size = match stats.size_bytes {
        0 => String::new(),
        bytes => format!(" ({})", format_size(bytes)),
    };
    let name = super::to_label(name);
    out.push_str(&match reader {
        Audience::Agent => format!("Database: {name}{size}\n"),
        Audience::Person => format!("=== Database: {name}{size} ===\n"),
    });
    top(&mut out, "Nodes:", &format!("{} ({} tokens)", stats.n_nodes(), number(stats.tokens)));
    let types = stats.by_type.iter().map(|(name, n)| (format!("{name}:"), n.to_string()));
    branches(&mut out, types.collect());
    top(&mut out, "Snapshots:", &stats.n_snapshots.to_string());
    if let Some(head) = &stats.head {
        let mut latest = format!("#{}, {} ago", head.id, format_age(now.since(head.created_at)));
        if !head.message.is_empty() {
            let message = crate::text::truncate_chars(&head.message, MESSAGE_CHARS_MAX);
            latest.push_str(&format!(", {}", super::to_quote(&message)));
        }
        let mut cursor: String = head.cursor_hash.chars().take(CURSOR_CHARS_MAX).collect();
        if cursor.len() < head.cursor_hash.len() {
            cursor.push_str("...");
        }
        let state = match reader {
            Audience::Agent => "cursor:",
            Audience::Person => "state:",
        };
        let facts = vec![("latest:".to_owned(), latest), (state.to_owned(), cursor)];
        branches(&mut out, facts);
    }
    let warm = stats.temperatures;
    let hot = match reader {
        Audience::Agent => format!("hot (>={}):", warm.lines.hot),
        Audience::Person => format!("hot (≥{}):", warm.lines.hot),
    };
    top(&mut out, "Temperature:", "");
    let cold = format!("cold (<{}):", warm.lines.cold);
    let facts = [
        ("avg:", format!("{:.2}", warm.average)),
        ("median:", format!("{:.2}", warm.median)),
        (&*hot, warm.n_hot.to_string()),
        (&*cold, warm.n_cold.to_string()),
        ("pinned:", warm.n_pinned.to_string()),
    ];
    branches(&mut out, facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
    let relations =
        [("manual:", stats.n_manual), ("parsed:", stats.n_parsed), ("pending:", stats.n_pending)];
    let n_relations: u64 = relations.iter().map(|(_, n)| n).sum();
    top(&mut out, "Relations:", &n_relations.to_string());
    let there = relations.iter().filter(|(_, n)| 0 < *n);
    branches(&mut out, there.map(|(name, n)| ((*name).to_owned(), n.to_string())).collect());
    let indexed = match reader {
        Audience::Agent => "FTS rows:",
        Audience::Person => "Searchable:",
    };
    top(&mut out, indexed, &stats.n_index_rows.to_string());
    if reader == Audience::Person {
        out.push('\n');
    }
    out
}

fn top(out: &mut String, label: &str, value: &str) {
    match value {
        // A label without a value keeps its padding, as clients know it.
        "" => out.push_str(&format!("{label:LABEL_COLUMNS$}\n")),
        _ => out.push_str(&format!("{label:LABEL_COLUMNS$} {value}\n")),
    }
}

fn branches(out: &mut String, facts: Vec<(String, String)>) {
    let n = facts.len();
    for (at, (key, value)) in facts.into_iter().enumerate() {
        let glyph = if at + 1 == n { "└─" } else { "├─" };
        out.push_str(&format!("    {glyph} {key:BRANCH_COLUMNS$} {value}\n"));
    }
}

/// Formats bytes as `128.0 KB`.
pub(crate) fn format_size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KB", "MB", "GB"] {
        if value < 1024.0 {
            return format!("{value:.1} {unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.1} TB")
}

/// Formats an age as `5s`, `3m`, `2h`, `9d`.
pub(crate) fn format_age(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
