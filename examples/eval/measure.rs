//! Computes the figures of a ranking, and the significance of their differences.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::{Value, json};

/// Ranks that count for nDCG and recall.
const RANKS: usize = 10;
/// Samples of a bootstrap.
const SAMPLES: usize = 2_000;

/// Returns nDCG@10, recall@10 and average precision of a ranking; `gains` has the relevant ones.
pub(crate) fn figures(ranking: &[u32], gains: &HashMap<u32, u32>) -> [f64; 3] {
    let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let gain = |id: &u32| gains.get(id).copied().map_or(0.0, f64::from);
    let mut ideal: Vec<f64> = gains.values().copied().map(f64::from).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let dcg: f64 =
        ranking.iter().take(RANKS).zip(0..).map(|(it, at)| gain(it) * discount(at)).sum();
    let best: f64 = ideal.iter().take(RANKS).zip(0..).map(|(it, at)| it * discount(at)).sum();
    let n_found = ranking.iter().take(RANKS).filter(|it| gains.contains_key(it)).count();
    let mut n_seen = 0.0;
    let mut precision = 0.0;
    for (at, id) in ranking.iter().enumerate() {
        if gains.contains_key(id) {
            n_seen += 1.0;
            precision += n_seen / (at as f64 + 1.0);
        }
    }
    let n = gains.len() as f64;
    [dcg / best, n_found as f64 / n, precision / n]
}

/// Returns each id once, at its first place.
pub(crate) fn first_places(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut seen = HashSet::new();
    ids.filter(|it| seen.insert(*it)).collect()
}

/// A figure of two rankings over the same questions.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) baseline: Vec<f64>,
    pub(crate) ours: Vec<f64>,
}

impl Row {
    /// Returns the mean difference and its 95 % interval.
    fn difference(&self) -> (f64, f64, f64) {
        let differences: Vec<f64> =
            self.ours.iter().zip(&self.baseline).map(|(ours, base)| ours - base).collect();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut means: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let n = differences.len();
                (0..n).map(|_| differences[random.below(n)]).sum::<f64>() / n as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        (mean(&differences), means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
    }

    fn to_json(&self) -> Value {
        let (difference, low, high) = self.difference();
        json!({
            "figure": self.name,
            "baseline": mean(&self.baseline),
            "remindb": mean(&self.ours),
            "difference": difference,
            "interval": [low, high],
        })
    }
}

/// Rows with a title.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) baseline: &'static str,
    pub(crate) rows: Vec<Row>,
    /// Figures that are no means over questions.
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// Returns the table as JSON, unrounded.
    pub(crate) fn to_json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::to_json).collect();
        json!({
            "title": self.title,
            "baseline": self.baseline,
            "rows": rows,
            "notes": self.notes,
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        let base = self.baseline;
        writeln!(f, "{:<30} {base:>9} {:>9} {:>11}  95 % interval", "", "remindb", "difference")?;
        for row in &self.rows {
            let (difference, low, high) = row.difference();
            let (base, ours) = (mean(&row.baseline), mean(&row.ours));
            let name = &row.name;
            if base < 10.0 {
                write!(f, "{name:<30} {base:>9.3} {ours:>9.3} {difference:>+11.3}")?;
                writeln!(f, "  {low:+.3} … {high:+.3}")?;
            } else {
                write!(f, "{name:<30} {base:>9.0} {ours:>9.0} {difference:>+11.0}")?;
                writeln!(f, "  {low:+.0} … {high:+.0}")?;
            }
        }
        self.notes.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

/// Returns how likely one of `higher` is above one of `lower`: the area under the curve of hits and
/// false alarms.
pub(crate) fn area_under_curve(higher: &[f64], lower: &[f64]) -> f64 {
    let worth = |high: f64, low: f64| match high.total_cmp(&low) {
        Ordering::Greater => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Less => 0.0,
    };
    let each = |&high: &f64| lower.iter().map(|&low| worth(high, low)).sum::<f64>();
    higher.iter().map(each).sum::<f64>() / (higher.len() * lower.len()).max(1) as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A xorshift generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
