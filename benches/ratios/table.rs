//! Prints figures as tables, and writes them as JSON.

use std::collections::HashSet;
use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::Outcome;

/// The bounds of a figure. Several may apply.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bound {
    /// Highest multiple of the floor.
    pub(crate) ratio: Option<f64>,
    /// Highest difference to the floor, at the size of the whole corpus.
    pub(crate) more: Option<f64>,
    /// Highest value, at the size of the whole corpus.
    pub(crate) most: Option<f64>,
    /// Highest value, at any size.
    pub(crate) most_ever: Option<f64>,
    /// Highest multiple of the figure at a sixteenth of the corpus.
    pub(crate) growth: Option<f64>,
}

pub(crate) const NONE: Bound =
    Bound { ratio: None, more: None, most: None, most_ever: None, growth: None };

impl Bound {
    /// Returns the bounds that apply at a size.
    fn at(self, size: Size) -> Bound {
        match size {
            Size::Whole => Bound { most: self.most.or(self.most_ever), ..self },
            Size::Other => Bound { more: None, most: self.most_ever, ..self },
        }
    }
}

/// One row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
    /// The floor, or the figure that it is compared with.
    pub(crate) floor: Option<f64>,
    /// The part that any program would take.
    pub(crate) least: Option<f64>,
    pub(crate) bound: Bound,
}

impl Figure {
    pub(crate) fn new(what: &str, unit: &'static str, value: f64) -> Figure {
        Figure { what: what.to_owned(), unit, value, floor: None, least: None, bound: NONE }
    }

    pub(crate) fn beside(self, floor: f64) -> Figure {
        Figure { floor: Some(floor), ..self }
    }

    /// Returns the figure beside the part that any program would take.
    pub(crate) fn above(self, least: f64) -> Figure {
        self.beside(least).at_least(least)
    }

    pub(crate) fn at_least(self, least: f64) -> Figure {
        Figure { least: Some(least), ..self }
    }

    pub(crate) fn within(self, bound: Bound) -> Figure {
        Figure { bound, ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.floor.filter(|it| 0.0 < *it).map(|it| self.value / it)
    }

    /// Returns whether it keeps its bounds; `None` when it has none at this size.
    fn holds(&self, size: Size) -> Option<bool> {
        let Bound { ratio, more, most, .. } = self.bound.at(size);
        let of_ratio = ratio.zip(self.ratio()).map(|(bound, it)| it <= bound);
        let of_more = more.zip(self.floor).map(|(bound, it)| self.value - it <= bound);
        let of_most = most.map(|bound| self.value <= bound);
        [of_ratio, of_more, of_most].into_iter().flatten().reduce(|a, b| a && b)
    }

    fn bound_text(&self, size: Size) -> String {
        let Bound { ratio, more, most, .. } = self.bound.at(size);
        let ratio = ratio.map(|it| format!("{it}×"));
        let more = more.map(|it| format!("+{it}"));
        let texts = [ratio, more, most.map(|it| it.to_string())];
        texts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The size of the measured corpus: that of the bounds, or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Whole,
    Other,
}

/// All printed figures.
#[derive(Default)]
pub(crate) struct Table {
    kept: Vec<Value>,
    n_bounds: usize,
    broken: Vec<String>,
}

impl Table {
    /// Prints rows below a heading and the column names; `of` is the name of the measured thing.
    pub(crate) fn rows(&mut self, of: &str, size: Size, figures: &[Figure]) -> Outcome<()> {
        let (what, unit, figure, floor) = ("what", "unit", "figure", "floor");
        let (ratio, bound) = ("ratio", "bound");
        self.say(&format!(
            "\n{of}\n\n{what:<44} {unit:>5} {figure:>10} {floor:>10} \
             {ratio:>6} {bound:>10}  holds"
        ))?;
        figures.iter().try_for_each(|it| self.row(of, size, it))
    }

    pub(crate) fn say(&self, text: &str) -> Outcome<()> {
        Ok(writeln!(std::io::stdout().lock(), "{text}")?)
    }

    fn row(&mut self, of: &str, size: Size, figure: &Figure) -> Outcome<()> {
        let Figure { what, unit, value, floor, .. } = figure;
        let (ratio, bound) = (figure.ratio(), figure.bound_text(size));
        let holds = figure.holds(size);
        let text = |it: Option<f64>| it.map_or(String::new(), short);
        let share = figure.least.filter(|_| holds == Some(false)).map(|it| 100.0 * it / value);
        let share = share.map_or(String::new(), |it| format!(", {it:.0} % is the floor's"));
        let verdict = verdict(holds).to_owned() + &share;
        let line = format!(
            "{what:<44} {unit:>5} {:>10} {:>10} {:>6} {bound:>10}  {verdict}",
            short(*value),
            text(*floor),
            ratio.map_or(String::new(), |it| format!("{it:.1}")),
        );
        self.say(line.trim_end())?;
        self.count(holds, format!("{what}, {of}"));
        self.kept.push(json!({
            "of": of, "what": what, "unit": unit, "figure": value, "floor": floor, "ratio": ratio,
            "least": figure.least, "bound": bound, "holds": holds,
        }));
        Ok(())
    }

    fn count(&mut self, holds: Option<bool>, what: String) {
        self.n_bounds += usize::from(holds.is_some());
        if holds == Some(false) {
            self.broken.push(what);
        }
    }

    /// Prints figures at several numbers of notes side by side.
    pub(crate) fn growth(&mut self, notes: [usize; 3], sizes: &[Vec<Figure>; 3]) -> Outcome<()> {
        let [one, four, all] = notes.map(|it| format!("{it} notes"));
        let (what, unit, growth, bound) = ("what", "unit", "growth", "bound");
        self.say(&format!(
            "\nhow it grows\n\n{what:<44} {unit:>5} {one:>10} {four:>10} {all:>10} \
             {growth:>6} {bound:>6}  holds"
        ))?;
        let mut seen = HashSet::new();
        for figure in &sizes[0] {
            // Rows that differ in their comparison are one row here.
            let what = figure.what.split(" / ").next().unwrap_or(&figure.what);
            if !seen.insert(what) {
                continue;
            }
            let same = |it: &&Figure| it.what == figure.what;
            let others = sizes[1].iter().find(same).zip(sizes[2].iter().find(same));
            let Some((second, third)) = others else { continue };
            let values = [figure.value, second.value, third.value];
            let growth = third.value / figure.value.max(f64::MIN_POSITIVE);
            let holds = figure.bound.growth.map(|bound| growth <= bound);
            let [one, four, all] = values.map(short);
            let bound = figure.bound.growth.map_or(String::new(), |it| format!("{it}×"));
            let verdict = verdict(holds);
            let line = format!(
                "{what:<44} {:>5} {one:>10} {four:>10} {all:>10} \
                 {growth:>6.1} {bound:>6}  {verdict}",
                figure.unit,
            );
            self.say(line.trim_end())?;
            self.count(holds, format!("{what}, growth"));
            self.kept.push(json!({
                "of": "growth", "what": what, "unit": figure.unit, "notes": notes,
                "figures": values, "growth": growth, "bound": bound, "holds": holds,
            }));
        }
        Ok(())
    }

    /// Prints the broken bounds, and writes the figures to `JSON`.
    pub(crate) fn keep(&self) -> Outcome<()> {
        let n_broken = self.broken.len();
        self.say(&format!("\n{} of {} bounds hold", self.n_bounds - n_broken, self.n_bounds))?;
        for broken in &self.broken {
            self.say(&format!("  not: {broken}"))?;
        }
        match std::env::var_os("JSON") {
            Some(path) => Ok(fs::write(path, serde_json::to_string_pretty(&self.kept)?)?),
            None => Ok(()),
        }
    }
}

fn verdict(holds: Option<bool>) -> &'static str {
    holds.map_or("", |it| if it { "yes" } else { "NO" })
}

/// Formats a number with three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        it if it < 1.0 => format!("{value:.3}"),
        it if it < 10.0 => format!("{value:.2}"),
        it if it < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
