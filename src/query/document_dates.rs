//! Document dates: days, months and years as texts write them, and those of headings, files and
//! front matter.
//!
//! A heading, a file name or front matter often has the only date of the texts below it. Dates are
//! compared by a nominal calendar of months of 31 days, which is exact enough to tell how near they
//! are. A date without a year is compared within the year. This module does no IO.

use std::ops::Range;

use crate::model::month_names::month_number;

/// Days of a nominal month, and of a nominal year.
pub(super) const MONTH_DAYS: i64 = 31;
pub(super) const YEAR_DAYS: i64 = 12 * MONTH_DAYS;
/// Days around a day that are near it.
const NEAR_DAYS: i64 = 7;
/// Closeness of what is near a date.
const NEAR: f64 = 0.8;
/// Years that a number of four digits may be.
const YEARS: Range<i64> = 1900..2100;

/// Fields of front matter that date a file, the most telling first.
const DATE_FIELDS: [&str; 9] = [
    "date",
    "day",
    "created",
    "created_at",
    "published",
    "updated",
    "updated_at",
    "modified",
    "lastmod",
];
/// Words before a month that is no other word.
pub(super) const BEFORE_MONTHS: [&str; 12] =
    ["by", "during", "early", "from", "in", "last", "late", "mid", "of", "on", "since", "until"];

/// Days from the first to the last, in the nominal calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DaySpan {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) has_year: bool,
}

/// A date as written; each part may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PartialDate {
    pub(super) year: Option<i64>,
    pub(super) month: Option<i64>,
    pub(super) day: Option<i64>,
}

/// Returns the days of a text, by the front matter of its file, its breadcrumb and its label: the
/// most exact date in them. Of two that contradict each other, the one next to the text counts.
pub(super) fn told_days(front_matter: Option<&str>, titles: &[&str]) -> Option<DaySpan> {
    let mut told = front_matter.map(front_matter_date).unwrap_or_default();
    for title in titles.iter().flat_map(|it| it.split(" / ")) {
        let words = words_of(title);
        // A month alone is a date where it is the whole title.
        let next = match words.len() {
            1 => read_date(&["in".to_owned(), words[0].clone()], &BEFORE_MONTHS),
            _ => read_date(&words, &[]),
        };
        told = told.narrowed(next);
    }
    told.span()
}

impl DaySpan {
    /// Returns how close two spans are, from 0 to 1.
    pub(super) fn closeness(self, other: DaySpan) -> f64 {
        let gap = |shift: i64| {
            (other.first + shift - self.last).max(self.first - other.last - shift).max(0)
        };
        let gap = match self.has_year && other.has_year {
            true => gap(0),
            false => {
                let shift = (self.first.rem_euclid(YEAR_DAYS) - self.first)
                    - (other.first.rem_euclid(YEAR_DAYS) - other.first);
                [-YEAR_DAYS, 0, YEAR_DAYS].map(|it| gap(it - shift)).into_iter().min().unwrap_or(0)
            }
        };
        let near = NEAR_DAYS.max(self.last - self.first).min(MONTH_DAYS);
        match gap {
            0 => 1.0,
            _ if gap <= near => NEAR,
            _ => 0.0,
        }
    }

    /// Returns the days of that number in the nominal calendar, of a year that is known.
    pub(super) fn of_days(first: i64, last: i64) -> DaySpan {
        DaySpan { first, last, has_year: true }
    }
}

impl PartialDate {
    /// Returns the date with the parts of a more exact one; a contradiction keeps the latter.
    fn narrowed(self, next: PartialDate) -> PartialDate {
        let is_part = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
        match is_part(self.year, next.year) && is_part(self.month, next.month) {
            true => PartialDate {
                year: next.year.or(self.year),
                month: next.month.or(self.month),
                day: next.day.or(self.day),
            },
            false => next,
        }
    }

    /// Returns its days; `None` without a month and a year.
    pub(super) fn span(self) -> Option<DaySpan> {
        let (year, has_year) = (self.year.unwrap_or(0) * YEAR_DAYS, self.year.is_some());
        let span = match (self.month, self.day) {
            (None, _) if !has_year => return None,
            (None, _) => (year, year + YEAR_DAYS - 1),
            (Some(month), day) => {
                let first = year + (month - 1) * MONTH_DAYS;
                match day {
                    None => (first, first + MONTH_DAYS - 1),
                    Some(day) => (first + day - 1, first + day - 1),
                }
            }
        };
        Some(DaySpan { first: span.0, last: span.1, has_year })
    }
}

/// Returns the words and numbers of a text in lower case; a date with signs inside is one. `3.5.`
/// keeps its last full stop, which tells it from a number.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let is_sign = |it: char| !it.is_alphanumeric();
    let word = |it: &str| {
        let word = it.trim_matches(is_sign);
        let is_stopped = it.trim_start_matches(is_sign).strip_prefix(word) == Some(".");
        let stop = if is_stopped && day_and_month(word).is_some() { "." } else { "" };
        word.to_lowercase() + stop
    };
    text.split([' ', ',', '\t', '\n']).map(word).filter(|it| !it.is_empty()).collect()
}

/// Reads a date of a text: the first in numbers, else the first with the name of its month, else a
/// year. A month without a number beside it counts after one of `before`.
fn read_date(words: &[String], before: &[&str]) -> PartialDate {
    let is_after = |at: usize| 0 < at && before.contains(&words[at - 1].as_str());
    let numeric = || (0..words.len()).find_map(|at| numeric_date_at(words, at));
    let named = || (0..words.len()).find_map(|at| named_date_at(words, at, 0, is_after(at)));
    let year = || (0..words.len()).find_map(|at| year_at(words, at));
    numeric().or_else(named).or_else(year).map_or(PartialDate::default(), |it| it.0)
}

/// Reads the date in numbers that a word is, maybe with the year behind it (`3.5. 2024`), and
/// returns it with the range of its words.
pub(super) fn numeric_date_at(words: &[String], at: usize) -> Option<(PartialDate, Range<usize>)> {
    if let Some(date) = numeric_date(&words[at]) {
        return Some((date, at..at + 1));
    }
    let date = day_and_month(words[at].strip_suffix('.')?)?;
    let (year, _) = year_at(words, at + 1)?;
    Some((PartialDate { year: year.year, ..date }, at..at + 2))
}

/// Reads the date whose month that word names, and returns it with the range of its words, all of
/// them at `from` or behind. A month without a number beside it counts if `is_date` says so.
pub(super) fn named_date_at(
    words: &[String],
    at: usize,
    from: usize,
    is_date: bool,
) -> Option<(PartialDate, Range<usize>)> {
    let month = month(&words[at])?;
    let before = |at: usize| at.checked_sub(1).filter(|it| from <= *it);
    let back = match before(at) {
        Some(it) if words[it] == "of" => before(it),
        it => it,
    };
    let day_at = |at: Option<usize>| at.and_then(|it| day_of_month(words.get(it)?));
    let (day, first, next) = match (day_at(back), day_at(Some(at + 1))) {
        (Some(day), _) => (Some(day), back.unwrap_or(at), at + 1),
        (None, Some(day)) => (Some(day), at, at + 2),
        (None, None) => (None, at, at + 1),
    };
    let year = year_at(words, next).and_then(|it| it.0.year);
    let end = next + usize::from(year.is_some());
    let is_date = is_date || day.is_some() || year.is_some();
    is_date.then_some((PartialDate { year, month: Some(month), day }, first..end))
}

/// Reads the year that a word is, and returns it with the range of its words.
pub(super) fn year_at(words: &[String], at: usize) -> Option<(PartialDate, Range<usize>)> {
    let year = year(words.get(at)?)?;
    Some((PartialDate { year: Some(year), ..PartialDate::default() }, at..at + 1))
}

/// Reads `5`, `05` and `5th`.
pub(super) fn day_of_month(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(|it: char| it.is_ascii_lowercase());
    digits.parse::<i64>().ok().filter(|it| (1..=31).contains(it))
}

/// Reads the date of front matter, whose lines are `field: value`.
fn front_matter_date(text: &str) -> PartialDate {
    let value = |field: &&str| {
        let values = text.lines().filter_map(|it| it.split_once(": "));
        let mut values = values.filter(|it| it.0.eq_ignore_ascii_case(field));
        let date = values.next().map(|it| read_date(&words_of(it.1), &[]))?;
        date.year.is_some().then_some(date)
    };
    DATE_FIELDS.iter().find_map(value).unwrap_or_default()
}

/// Reads `2024-03-14`, `2024-03`, `2024/3/14`, `20240314`, and the beginning of `2024-03-journal`,
/// `2024-03-14T10:00` and `20240314101500`; `14.3.2024`, and `14/03/2024` where only one of its
/// numbers can be the month. `14-Mar-2024` and `2024-Mar-14` are such a word, too.
pub(super) fn numeric_date(word: &str) -> Option<PartialDate> {
    let digits = &word[..word.bytes().take_while(u8::is_ascii_digit).count()];
    if matches!(digits.len(), 8 | 12 | 14) {
        let (day, month) = (digits[6..8].parse().ok()?, digits[4..6].parse().ok()?);
        let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
        let year = year(&digits[..4]).filter(|_| is_date)?;
        return Some(PartialDate { year: Some(year), month: Some(month), day: Some(day) });
    }
    if let Some(date) = year_last_date(word).or_else(|| hyphenated_date(word)) {
        return Some(date);
    }
    let mut parts = word.split(['-', '/', '_', '.', 't']);
    let year = year(parts.next()?)?;
    let mut next = |most: i64| {
        parts.next().and_then(|it| it.parse::<i64>().ok()).filter(|it| (1..=most).contains(it))
    };
    let month = next(12)?;
    Some(PartialDate { year: Some(year), month: Some(month), day: next(31) })
}

/// Reads `14.3.2024`, day first, and `14/3/2024`, `3-14-2024` and the like, in which one number can
/// be no month.
fn year_last_date(word: &str) -> Option<PartialDate> {
    let sign = word.trim_start_matches(|it: char| it.is_ascii_digit()).chars().next()?;
    if !matches!(sign, '.' | '/' | '-' | '_') {
        return None;
    }
    let (first, rest) = word.split_once(sign)?;
    let (second, rest) = rest.split_once(sign)?;
    let year = year(rest.split(['-', '/', '_', '.', 't']).next()?)?;
    let [first, second] = [number(first)?, number(second)?];
    let (day, month) = match sign {
        '.' => (first, second),
        _ if 12 < second => (second, first),
        _ if 12 < first || first == second => (first, second),
        _ => return None,
    };
    day_in_month(day, month).map(|it| PartialDate { year: Some(year), ..it })
}

/// Reads `14-mar-2024` and `2024-mar-14`, with any of the usual signs.
fn hyphenated_date(word: &str) -> Option<PartialDate> {
    let mut parts = word.split(['-', '/', '_', '.']);
    let [first, name, last] = [parts.next()?, parts.next()?, parts.next()?];
    let (day, year) = match year(first) {
        Some(year) => (last, year),
        None => (first, year(last)?),
    };
    day_in_month(number(day)?, month(name)?).map(|it| PartialDate { year: Some(year), ..it })
}

/// Reads `14.3`.
fn day_and_month(word: &str) -> Option<PartialDate> {
    let (day, month) = word.split_once('.')?;
    day_in_month(number(day)?, number(month)?)
}

fn day_in_month(day: i64, month: i64) -> Option<PartialDate> {
    let is_date = (1..=31).contains(&day) && (1..=12).contains(&month);
    is_date.then_some(PartialDate { year: None, month: Some(month), day: Some(day) })
}

/// Reads a number of one or two digits.
fn number(word: &str) -> Option<i64> {
    let is_number = matches!(word.len(), 1 | 2) && word.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| word.parse().ok()).flatten()
}

fn year(word: &str) -> Option<i64> {
    word.parse().ok().filter(|it| word.len() == 4 && YEARS.contains(it))
}

fn month(word: &str) -> Option<i64> {
    month_number(word).map(i64::from)
}

#[cfg(test)]
mod tests;
