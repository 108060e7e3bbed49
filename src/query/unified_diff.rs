//! Unified diff of two texts, with three lines of context.
//!
//! Lines are paired by the near-linear alignment that also matches nodes, so that no pair of texts
//! takes quadratic time. This module does no IO.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use crate::model::identity::pair_in_order;

/// Equal lines around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the hunks from `old` to `new` as `diff -u` writes them, without file names. Equal texts
/// have none.
pub(crate) fn unified_hunks(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut out = String::new();
    for group in grouped(&changes(&old, &new)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let n_before = first.old.start.min(first.new.start).min(CONTEXT_LINES);
        let n_after = (old.len() - last.old.end).min(CONTEXT_LINES);
        let old_lines = first.old.start - n_before..last.old.end + n_after;
        let new_lines = first.new.start - n_before..last.new.end + n_after;
        let _ = writeln!(out, "@@ -{} +{} @@", span(&old_lines), span(&new_lines));
        let mut at = old_lines.start;
        for change in group {
            push(&mut out, ' ', &old[at..change.old.start]);
            push(&mut out, '-', &old[change.old.clone()]);
            push(&mut out, '+', &new[change.new.clone()]);
            at = change.old.end;
        }
        push(&mut out, ' ', &old[at..old_lines.end]);
    }
    out
}

/// Returns the texts of each hunk from `old` to `new`, before and after it. Equal texts have none.
pub(crate) fn hunk_sides(old: &str, new: &str) -> Vec<(String, String)> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let sides = |group: &[LineReplacement]| {
        let (first, last) = (group.first()?, group.last()?);
        let n_before = first.old.start.min(first.new.start).min(CONTEXT_LINES);
        let n_after = (old.len() - last.old.end).min(CONTEXT_LINES);
        let old_lines = first.old.start - n_before..last.old.end + n_after;
        let new_lines = first.new.start - n_before..last.new.end + n_after;
        Some((old[old_lines].concat(), new[new_lines].concat()))
    };
    grouped(&changes(&old, &new)).filter_map(sides).collect()
}

/// A range of lines and its replacement; one of them may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineReplacement {
    old: Range<usize>,
    new: Range<usize>,
}

fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<LineReplacement> {
    let mut numbers: HashMap<&'a str, usize> = HashMap::new();
    let mut numbered = |lines: &[&'a str]| -> Vec<usize> {
        let mut number = |line: &'a str| {
            let next = numbers.len();
            *numbers.entry(line).or_insert(next)
        };
        lines.iter().map(|line| number(line)).collect()
    };
    let (old_numbers, new_numbers) = (numbered(old), numbered(new));
    let mut changes = Vec::new();
    let (mut i, mut j) = (0, 0);
    let ends = (old.len(), new.len());
    let pairs = pair_in_order(&old_numbers, &new_numbers, &mut 0);
    for (old_at, new_at) in pairs.into_iter().chain([ends]) {
        if i < old_at || j < new_at {
            changes.push(LineReplacement { old: i..old_at, new: j..new_at });
        }
        (i, j) = (old_at + 1, new_at + 1);
    }
    changes
}

/// Groups changes into hunks: those with overlapping context share one.
fn grouped(changes: &[LineReplacement]) -> impl Iterator<Item = &[LineReplacement]> {
    changes.chunk_by(|a, b| b.old.start - a.old.end <= 2 * CONTEXT_LINES)
}

/// Formats a range as `7`, `7,3`, or `6,0` for nothing after line 6.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        n => format!("{},{n}", lines.start + 1),
    }
}

fn push(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests;
