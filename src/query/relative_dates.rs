//! Relative dates: days that a question counts from the time of asking, such as `yesterday`, `last
//! week`, `on Tuesday` or `3 days ago`.
//!
//! They are counted in UTC and in real days, and then put into the nominal calendar of
//! [`document_dates`]. This module does no IO.

use super::document_dates::{self, DaySpan, MONTH_DAYS, YEAR_DAYS};
use crate::model::clock::{DAY_MS, UnixMillis};

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const LAST: [&str; 3] = ["last", "past", "previous"];
const NEXT: [&str; 2] = ["coming", "next"];
/// Words between a weekday and its week.
const OF: [&str; 4] = ["in", "of", "on", "the"];
/// Words of a relative date, such as `Tuesday of the last week`.
pub(super) const RELATIVE_WORDS_MAX: usize = 5;
/// The weekday of the first of January 1970, from Monday on.
const EPOCH_WEEKDAY: i64 = 3;

/// The days around a time.
#[derive(Clone, Copy)]
pub(super) struct Calendar {
    now: UnixMillis,
    /// The month of the time, counted from the year 0 on.
    month: i64,
    /// The weekday of the time, from Monday on.
    weekday: i64,
}

/// The days that words may mean, and those that they mean in each of their readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PossibleAndLikelyDays {
    pub(super) all: DaySpan,
    pub(super) likely: DaySpan,
}

impl From<DaySpan> for PossibleAndLikelyDays {
    fn from(days: DaySpan) -> PossibleAndLikelyDays {
        PossibleAndLikelyDays { all: days, likely: days }
    }
}

impl Calendar {
    /// Returns the days around a time; `None` far outside of the years that dates have.
    pub(super) fn at(now: UnixMillis) -> Option<Calendar> {
        let weekday = (now.0.div_euclid(DAY_MS) + EPOCH_WEEKDAY).rem_euclid(7);
        Some(Calendar { now, month: nominal_day(now)?.div_euclid(MONTH_DAYS), weekday })
    }

    /// Returns the days from one to another, both counted from today.
    fn days(self, first: i64, last: i64) -> Option<DaySpan> {
        let day = |offset: i64| {
            nominal_day(UnixMillis(self.now.0.saturating_add(offset.saturating_mul(DAY_MS))))
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

    /// Returns the year of the time.
    pub(super) fn this_year(self) -> i64 {
        self.month.div_euclid(12)
    }

    /// Reads the date that words begin with, and returns it with the number of its words. The name
    /// of a weekday is a day if `is_day` says so; it may name a habit.
    pub(super) fn read(
        self,
        words: &[&str],
        is_day: bool,
    ) -> Option<(PossibleAndLikelyDays, usize)> {
        let day = |offset, n_words| Some((self.days(offset, offset)?.into(), n_words));
        if let Some((offset, n_words)) = self.day_of_week(words) {
            return day(offset, n_words);
        }
        match *words {
            ["day", "before", "yesterday", ..] => day(-2, 3),
            ["day", "after", "tomorrow", ..] => day(2, 3),
            ["today" | "tonight", ..] => day(0, 1),
            ["yesterday", ..] => day(-1, 1),
            ["tomorrow", ..] => day(1, 1),
            ["this", "morning" | "afternoon" | "evening", ..] => day(0, 2),
            ["last", "night", ..] => day(-1, 2),
            [number, unit, "ago", ..] => Some((self.ago(small_number(number)?, unit)?.into(), 3)),
            [side, number, unit, ..] if LAST.contains(&side) && small_number(number).is_some() => {
                let first = self.ago(small_number(number)?, unit)?.first;
                Some((DaySpan::of_days(first, self.days(0, 0)?.last).into(), 3))
            }
            [side, unit, ..] if LAST.contains(&side) => Some((self.unit(unit, -1)?, 2)),
            [side, unit, ..] if NEXT.contains(&side) => Some((self.unit(unit, 1)?, 2)),
            ["this", unit, ..] => Some((self.unit(unit, 0)?, 2)),
            [name, ..] if is_day => day(-(self.weekday - weekday(name)?).rem_euclid(7), 1),
            _ => None,
        }
    }

    /// Reads `Tuesday of last week` and `last week on Tuesday`, which name one day. Returns it,
    /// counted from today, with the number of its words.
    fn day_of_week(self, words: &[&str]) -> Option<(i64, usize)> {
        let behind = |at: usize| {
            let n_between = words.get(at..)?.iter().take_while(|it| OF.contains(it)).count();
            Some((at + n_between, words.get(at + n_between..)?))
        };
        let (weeks, name, n_words) = match weekday(words.first()?) {
            Some(name) => {
                let (at, rest) = behind(1)?;
                let (weeks, n_words) = week(rest)?;
                (weeks, name, at + n_words)
            }
            None => {
                let (weeks, n_words) = week(words)?;
                let (at, rest) = behind(n_words)?;
                (weeks, weekday(rest.first()?)?, at + 1)
            }
        };
        Some((7 * weeks + name - self.weekday, n_words))
    }

    /// Returns the last, this or the next unit, by the sign of `side`. By a week, some mean the
    /// seven days beside today, others those from Monday on.
    fn unit(self, unit: &str, side: i64) -> Option<PossibleAndLikelyDays> {
        let (monday, sunday) = (7 * side - self.weekday, 7 * side + 6 - self.weekday);
        let (all, likely) = match unit {
            "week" => match side {
                0 => ((-6, 6), (monday, 0)),
                -1 => ((monday, -1), (-7, sunday)),
                _ => ((1, sunday), (monday, 7)),
            },
            "weekend" => ((sunday - 1, sunday), (sunday - 1, sunday)),
            "month" => return Some(self.months(side, side).into()),
            "year" => return Some(self.year(side).into()),
            name => {
                let ahead = weekday(name)? - self.weekday;
                let offset = match side {
                    0 => ahead,
                    _ => side * ((side * ahead - 1).rem_euclid(7) + 1),
                };
                ((offset, offset), (offset, offset))
            }
        };
        let [all, likely] = [self.days(all.0, all.1)?, self.days(likely.0, likely.1)?];
        Some(PossibleAndLikelyDays { all, likely })
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

/// Returns whether a word names a weekday, in full or not.
pub(super) fn is_weekday(word: &str) -> bool {
    3 <= word.len() && WEEKDAYS.iter().any(|it| it.starts_with(word))
}

/// Reads a week, and returns how many it is from this one with the number of its words.
fn week(words: &[&str]) -> Option<(i64, usize)> {
    match *words {
        ["this", "week", ..] => Some((0, 2)),
        [side, "week", ..] if LAST.contains(&side) => Some((-1, 2)),
        [side, "week", ..] if NEXT.contains(&side) => Some((1, 2)),
        [number, "week" | "weeks", "ago", ..] => Some((-small_number(number)?, 3)),
        _ => None,
    }
}

fn nominal_day(at: UnixMillis) -> Option<i64> {
    Some(document_dates::numeric_date(at.rfc3339().get(..10)?)?.span()?.first)
}

/// Reads a number up to 99, in digits or, up to ten, in words.
fn small_number(word: &str) -> Option<i64> {
    const WORDS: [&str; 11] =
        ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let named = WORDS.iter().position(|it| *it == word).map(|it| (it as i64).max(1));
    named.or_else(|| word.parse().ok().filter(|it| (1..100).contains(it)))
}
