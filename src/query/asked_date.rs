//! Asked dates: the days that a question asks about, such as `March 5, 2024`, `last week` or `on
//! Tuesday`.
//!
//! Relative words are counted from the time of asking, in UTC and in real days, and then put into
//! the nominal calendar of [`dates`]. This module does no IO.

use std::collections::HashSet;
use std::ops::Range;

use super::dates::{self, BEFORE_MONTHS, DaySpan, MONTH_DAYS, YEAR_DAYS};
use crate::model::clock::{DAY_MS, Millis};
use crate::text::bigrams;

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Words before the name of a weekday that make it a day; without one it may name a habit.
const BEFORE_WEEKDAYS: [&str; 9] =
    ["about", "by", "during", "for", "from", "of", "on", "since", "until"];
const LAST: [&str; 3] = ["last", "past", "previous"];
const NEXT: [&str; 2] = ["coming", "next"];
/// The weekday of the first of January 1970, from Monday on.
const EPOCH_WEEKDAY: i64 = 3;

/// A date that a question asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedDate {
    pub(super) days: DaySpan,
    pub(super) wording: DateWording,
    /// The words that it is made of, in lower case, unless the question has them elsewhere, too.
    pub(super) words: HashSet<String>,
    /// The year of asking.
    pub(super) this_year: i64,
}

/// The way a question names a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateWording {
    /// A day of a month.
    Day,
    /// A month or a year.
    Month,
    /// Words that are counted from today.
    Relative,
}

/// Returns the date that a question asks about, given the time of asking.
pub(super) fn asked_date(question: &str, now: Millis) -> Option<AskedDate> {
    let words = dates::words_of(question);
    let bare: Vec<&str> = words.iter().map(|it| without_possessive(it)).collect();
    let (days, wording, range) = match relative_days(&bare, now) {
        Some((days, range)) => (days, DateWording::Relative, range),
        None => {
            let (date, range) = dates::read_date(&words, &BEFORE_MONTHS);
            let wording = if date.day.is_some() { DateWording::Day } else { DateWording::Month };
            (date.span()?, wording, range)
        }
    };
    let others = pieces([&words[..range.start], &words[range.end..]].into_iter().flatten());
    let words = &pieces(&words[range]) - &others;
    let this_year = nominal_day(now)?.div_euclid(YEAR_DAYS);
    Some(AskedDate { days, wording, words, this_year })
}

/// Returns the words as the index has them.
fn pieces<'a>(words: impl IntoIterator<Item = &'a String>) -> HashSet<String> {
    let pieces = words.into_iter().flat_map(|it| bigrams::segments(it));
    pieces.map(|it| it.text.to_owned()).collect()
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// Reads `yesterday`, `last week`, `on Tuesday`, `3 days ago` and the like, with the range of the
/// words.
fn relative_days(words: &[&str], now: Millis) -> Option<(DaySpan, Range<usize>)> {
    let calendar = Calendar::at(now)?;
    (0..words.len()).find_map(|at| {
        let (days, n_words) = calendar.read(&words[..at], &words[at..])?;
        Some((days, at..at + n_words))
    })
}

/// The days around a time.
#[derive(Clone, Copy)]
struct Calendar {
    now: Millis,
    /// The month of the time, counted from the year 0 on.
    month: i64,
    /// The weekday of the time, from Monday on.
    weekday: i64,
}

impl Calendar {
    fn at(now: Millis) -> Option<Calendar> {
        let weekday = (now.0.div_euclid(DAY_MS) + EPOCH_WEEKDAY).rem_euclid(7);
        Some(Calendar { now, month: nominal_day(now)?.div_euclid(MONTH_DAYS), weekday })
    }

    /// Returns the days from one to another, both counted from today.
    fn days(self, first: i64, last: i64) -> Option<DaySpan> {
        let day = |offset: i64| {
            nominal_day(Millis(self.now.0.saturating_add(offset.saturating_mul(DAY_MS))))
        };
        Some(DaySpan::of_days(day(first)?, day(last)?))
    }

    /// Returns months, counted from this one.
    fn months(self, first: i64, last: i64) -> DaySpan {
        let [first, last] = [first, last].map(|it| self.month + it);
        DaySpan::of_days(first * MONTH_DAYS, (last + 1) * MONTH_DAYS - 1)
    }

    /// Returns a year, counted from this one.
    fn year(self, offset: i64) -> DaySpan {
        let first = (self.month.div_euclid(12) + offset) * YEAR_DAYS;
        DaySpan::of_days(first, first + YEAR_DAYS - 1)
    }

    /// Reads the date that words begin with, and returns it with the number of its words.
    fn read(self, before: &[&str], words: &[&str]) -> Option<(DaySpan, usize)> {
        let day = |offset, n_words| Some((self.days(offset, offset)?, n_words));
        let is_after = |several: &[&str]| before.last().is_some_and(|it| several.contains(it));
        match *words {
            ["day", "before", "yesterday", ..] => day(-2, 3),
            ["day", "after", "tomorrow", ..] => day(2, 3),
            ["today" | "tonight", ..] => day(0, 1),
            ["yesterday", ..] => day(-1, 1),
            ["tomorrow", ..] => day(1, 1),
            ["this", "morning" | "afternoon" | "evening", ..] => day(0, 2),
            ["last", "night", ..] => day(-1, 2),
            [number, unit, "ago", ..] => Some((self.ago(small_number(number)?, unit)?, 3)),
            [side, number, unit, ..] if LAST.contains(&side) && small_number(number).is_some() => {
                let first = self.ago(small_number(number)?, unit)?.first;
                Some((DaySpan::of_days(first, self.days(0, 0)?.last), 3))
            }
            [side, unit, ..] if LAST.contains(&side) => Some((self.unit(unit, -1)?, 2)),
            [side, unit, ..] if NEXT.contains(&side) => Some((self.unit(unit, 1)?, 2)),
            ["this", unit, ..] => Some((self.unit(unit, 0)?, 2)),
            [name, ..] if is_after(&BEFORE_WEEKDAYS) => {
                day(-(self.weekday - weekday(name)?).rem_euclid(7), 1)
            }
            _ => None,
        }
    }

    /// Returns the last, this or the next unit, by the sign of `side`.
    fn unit(self, unit: &str, side: i64) -> Option<DaySpan> {
        match unit {
            // Some mean the seven days beside today by it, others those from Monday on.
            "week" if side == 0 => self.days(-6, 6),
            "week" => self.days((7 * side - 6).min(side), (7 * side + 6).max(side)),
            "weekend" => self.days(5 - self.weekday + 7 * side, 6 - self.weekday + 7 * side),
            "month" => Some(self.months(side, side)),
            "year" => Some(self.year(side)),
            name => {
                let ahead = weekday(name)? - self.weekday;
                let offset = match side {
                    0 => ahead,
                    _ => side * ((side * ahead - 1).rem_euclid(7) + 1),
                };
                self.days(offset, offset)
            }
        }
    }

    /// Returns the day, week, month or year that was `n` ago.
    fn ago(self, n: i64, units: &str) -> Option<DaySpan> {
        match units.trim_end_matches('s') {
            "day" => self.days(-n, -n),
            "week" => self.days(-7 * n - 3, -7 * n + 3),
            "month" => Some(self.months(-n, -n)),
            "year" => Some(self.year(-n)),
            _ => None,
        }
    }
}

/// Returns the number of a weekday, from Monday on.
fn weekday(name: &str) -> Option<i64> {
    Some(WEEKDAYS.iter().position(|it| *it == name)? as i64)
}

fn nominal_day(at: Millis) -> Option<i64> {
    Some(dates::numeric_date(at.rfc3339().get(..10)?)?.span()?.first)
}

/// Reads a number up to 99, in digits or, up to ten, in words.
fn small_number(word: &str) -> Option<i64> {
    const WORDS: [&str; 11] =
        ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let named = WORDS.iter().position(|it| *it == word).map(|it| (it as i64).max(1));
    named.or_else(|| word.parse().ok().filter(|it| (1..100).contains(it)))
}

#[cfg(test)]
mod tests;
