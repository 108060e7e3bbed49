//! Asked dates: the days that a question asks about, such as `March 5, 2024`, `last week`, `between
//! 3 May and 7 May` or `in March or in June`.
//!
//! Each date of the question counts. Two are one span of days where the question says so, and a
//! date takes the year or the month that it lacks from the one beside it. This module does no IO.

use std::collections::HashSet;
use std::ops::Range;

use super::document_dates::{self, BEFORE_MONTHS, DaySpan, PartialDate, YEAR_DAYS};
use super::relative_dates::{Calendar, PossibleAndLikelyDays, RELATIVE_WORDS_MAX, is_weekday};
use crate::model::clock::UnixMillis;
use crate::text::spaceless_script_bigrams;

/// Words before the name of a weekday that make it a day; without one it may name a habit.
const BEFORE_WEEKDAYS: [&str; 10] =
    ["about", "between", "by", "during", "for", "from", "of", "on", "since", "until"];
/// Words between the first and the last day of a span.
const TO: [&str; 4] = ["through", "till", "to", "until"];
/// Words between two dates.
const AND: [&str; 2] = ["and", "or"];
/// Dates of a question; further ones are words.
const DATES_MAX: usize = 8;

/// A date that a question asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedDate {
    pub(super) days: DaySpan,
    /// The days among these that it means in each of its readings.
    pub(super) likely: DaySpan,
    pub(super) wording: DateWording,
    /// The words that it is made of, in lower case, unless the question has them elsewhere, too.
    pub(super) words: HashSet<String>,
    /// The year of asking.
    pub(super) this_year: i64,
}

impl AskedDate {
    /// Returns how likely told days are meant, of those that are counted from today: more in each
    /// reading of the question, and the later, the more.
    pub(super) fn likelihood(&self, told: DaySpan) -> f64 {
        let is_within = |it: DaySpan| it.first <= told.first && told.last <= it.last;
        if self.wording != DateWording::Relative || !told.has_year || !is_within(self.days) {
            return 0.0;
        }
        let n_days = (self.days.last - self.days.first + 1) as f64;
        let lateness = (told.last - self.days.first) as f64 / n_days;
        if is_within(self.likely) { 1.0 + lateness } else { lateness }
    }
}

/// The way a question names a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateWording {
    /// A day of a month, or the days from one date to another.
    Day,
    /// A month or a year.
    Month,
    /// Words that are counted from today.
    Relative,
}

/// Returns the dates that a question asks about, given the time of asking, in their order.
pub(super) fn asked_dates(question: &str, now: UnixMillis) -> Vec<AskedDate> {
    let Some(calendar) = Calendar::at(now) else { return Vec::new() };
    let words = QuestionWords::of(question);
    let mut dates = words.dates(calendar);
    words.add_weekdays(&mut dates);
    words.complete(&mut dates);
    let spans = words.spans(&dates);
    let is_date = |at: usize| spans.iter().any(|it| it.1.contains(&at));
    let others = pieces((0..words.0.len()).filter(|&it| !is_date(it)).map(|it| &words.0[it]));
    let asked = |((days, wording), range): &(AskedDays, Range<usize>)| AskedDate {
        days: days.all,
        likely: days.likely,
        wording: *wording,
        words: &pieces(&words.0[range.clone()]) - &others,
        this_year: calendar.this_year(),
    };
    spans.iter().map(asked).collect()
}

/// Returns the words as the index has them.
fn pieces<'a>(words: impl IntoIterator<Item = &'a String>) -> HashSet<String> {
    let pieces = words.into_iter().flat_map(|it| spaceless_script_bigrams::segments(it));
    pieces.map(|it| it.text.to_owned()).collect()
}

/// The words of a question, in which a dash between days is `to`.
struct QuestionWords(Vec<String>);

/// The days of a date or a span, and how it is named.
type AskedDays = (PossibleAndLikelyDays, DateWording);

/// A date as read, with the range of its words.
struct ReadDate {
    date: RelativeOrAbsoluteDate,
    range: Range<usize>,
}

#[derive(Clone, Copy)]
enum RelativeOrAbsoluteDate {
    Relative(PossibleAndLikelyDays),
    Absolute(PartialDate),
}

impl QuestionWords {
    fn of(question: &str) -> QuestionWords {
        let spaced = question.replace(['–', '—'], " to ").replace(" - ", " to ");
        let mut words = Vec::new();
        for word in document_dates::words_of(&spaced) {
            match word.split_once('-').filter(|(a, b)| is_bare_day(a) && is_bare_day(b)) {
                Some((first, last)) => words.extend([first, "to", last].map(str::to_owned)),
                None => words.push(word),
            }
        }
        QuestionWords(words)
    }

    /// Returns whether there is such a word at that place.
    fn is_one(&self, at: usize, several: &[&str]) -> bool {
        self.0.get(at).is_some_and(|it| several.contains(&it.as_str()))
    }

    /// Reads all dates. A year alone is one where there is nothing else, or right behind another.
    fn dates(&self, calendar: Calendar) -> Vec<ReadDate> {
        let mut found: Vec<ReadDate> = Vec::new();
        for are_years_dates in [false, true] {
            let mut at = 0;
            while at < self.0.len() && found.len() < DATES_MAX {
                match self.date_at(at, found.last(), calendar, are_years_dates) {
                    Some(read) => {
                        at = read.range.end;
                        found.push(read);
                    }
                    None => at += 1,
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// Reads the date at a word, which may begin before that word, but behind the last date.
    fn date_at(
        &self,
        at: usize,
        last: Option<&ReadDate>,
        calendar: Calendar,
        are_years_dates: bool,
    ) -> Option<ReadDate> {
        let from = last.map_or(0, |it| it.range.end);
        let is_after = |several: &[&str]| from < at && self.is_one(at - 1, several);
        let is_next = last.is_some() && from + 1 == at && (is_after(&TO) || is_after(&AND));
        let next = self.0[at..].iter().take(RELATIVE_WORDS_MAX);
        let bare: Vec<&str> = next.map(|it| without_possessive(it)).collect();
        if let Some((days, n_words)) = calendar.read(&bare, is_next || is_after(&BEFORE_WEEKDAYS)) {
            return Some(ReadDate {
                date: RelativeOrAbsoluteDate::Relative(days),
                range: at..at + n_words,
            });
        }
        // `and may` is rarely the month.
        let is_month = is_after(&BEFORE_MONTHS)
            || is_after(&["between"])
            || is_next && (self.0[at] != "may" || at + 1 == self.0.len());
        let (date, range) = document_dates::numeric_date_at(&self.0, at)
            .or_else(|| document_dates::named_date_at(&self.0, at, from, is_month))
            .or_else(|| document_dates::year_at(&self.0, at).filter(|_| are_years_dates || is_next))
            .or_else(|| self.further_day(at, last.filter(|_| is_next)?))?;
        Some(ReadDate { date: RelativeOrAbsoluteDate::Absolute(date), range })
    }

    /// Reads the second day of `May 3 to 7, 2024`.
    fn further_day(&self, at: usize, last: &ReadDate) -> Option<(PartialDate, Range<usize>)> {
        let RelativeOrAbsoluteDate::Absolute(PartialDate { day: Some(_), month, year: None }) =
            last.date
        else {
            return None;
        };
        let day = Some(self.bare_day(at)?);
        let year = document_dates::year_at(&self.0, at + 1).and_then(|it| it.0.year);
        let end = at + 1 + usize::from(year.is_some());
        // Of `3 May to 7 June`, the second day has a month of its own.
        let behind = if self.is_one(at + 1, &["of"]) { at + 2 } else { at + 1 };
        let is_own = behind < self.0.len()
            && document_dates::named_date_at(&self.0, behind, behind, true).is_some();
        let is_date = !is_own && self.is_one(at - 1, &TO) || end == self.0.len();
        is_date.then_some((PartialDate { year, month, day }, at..end))
    }

    /// Adds weekdays to the days of months right beside them: `Tuesday, November 3` is one date.
    fn add_weekdays(&self, dates: &mut Vec<ReadDate>) {
        let is_day = |it: &ReadDate| {
            matches!(it.date, RelativeOrAbsoluteDate::Absolute(PartialDate { day: Some(_), .. }))
        };
        let days = dates.iter().filter(|it| is_day(it));
        let days: Vec<Range<usize>> = days.map(|it| self.with_weekday(&it.range)).collect();
        let is_part = |it: &ReadDate| {
            days.iter().any(|day| it.range.start < day.end && day.start < it.range.end)
        };
        dates.retain(|it| is_day(it) || !is_part(it));
        for (date, range) in dates.iter_mut().filter(|it| is_day(it)).zip(days) {
            date.range = range;
        }
    }

    fn with_weekday(&self, day: &Range<usize>) -> Range<usize> {
        let is_weekday = |at: &usize| self.0.get(*at).is_some_and(|it| is_weekday(it));
        let before = |at: usize| at.checked_sub(1);
        let the = before(day.start).filter(|it| self.is_one(*it, &["the"])).unwrap_or(day.start);
        let start = before(the).filter(is_weekday).unwrap_or(day.start);
        start..day.end + usize::from(is_weekday(&day.end))
    }

    /// Adds the first day of `3 to 7 May` and of `on 3 and 7 May`, and the years that dates lack.
    fn complete(&self, dates: &mut Vec<ReadDate>) {
        let mut nth = 0;
        while nth < dates.len() {
            let from = nth.checked_sub(1).map_or(0, |it| dates[it].range.end);
            if let Some(first) = self.day_before(&dates[nth], from) {
                dates.insert(nth, first);
                nth += 1;
            }
            nth += 1;
        }
        for nth in 1..dates.len() {
            if !self.is_joined(&dates[nth - 1], &dates[nth]) {
                continue;
            }
            let is_span = self.is_span(&dates[nth - 1], &dates[nth]);
            if let (
                RelativeOrAbsoluteDate::Absolute(mut first),
                RelativeOrAbsoluteDate::Absolute(mut last),
            ) = (dates[nth - 1].date, dates[nth].date)
                && first.month.is_some()
                && last.month.is_some()
            {
                let turn = i64::from(is_span && last.month < first.month);
                first.year = first.year.or(last.year.map(|it| it - turn));
                last.year = last.year.or(first.year.map(|it| it + turn));
                dates[nth - 1].date = RelativeOrAbsoluteDate::Absolute(first);
                dates[nth].date = RelativeOrAbsoluteDate::Absolute(last);
            }
        }
    }

    /// Returns the day of the same month before a date.
    fn day_before(&self, date: &ReadDate, from: usize) -> Option<ReadDate> {
        let RelativeOrAbsoluteDate::Absolute(of @ PartialDate { day: Some(_), .. }) = date.date
        else {
            return None;
        };
        let at = date.range.start.checked_sub(2).filter(|it| from <= *it)?;
        let is_after = |several: &[&str]| from < at && self.is_one(at - 1, several);
        let is_day = self.is_one(at + 1, &TO)
            || self.is_one(at + 1, &AND) && (is_after(&BEFORE_MONTHS) || is_after(&["between"]));
        let day = Some(self.bare_day(at).filter(|_| is_day)?);
        let date = RelativeOrAbsoluteDate::Absolute(PartialDate { day, ..of });
        Some(ReadDate { date, range: at..at + 1 })
    }

    fn bare_day(&self, at: usize) -> Option<i64> {
        let word = self.0.get(at).filter(|it| is_bare_day(it))?;
        document_dates::day_of_month(word)
    }

    /// Returns whether nothing but a word such as `and` is between two dates.
    fn is_joined(&self, first: &ReadDate, last: &ReadDate) -> bool {
        let mut between = first.range.end..last.range.start;
        let is_joint = |at| [&AND[..], &TO, &["the"]].iter().any(|it| self.is_one(at, it));
        !between.is_empty() && between.all(|it| is_joint(it) || self.is_one(it, &BEFORE_MONTHS))
    }

    /// Returns whether two dates are the first and the last day of a span.
    fn is_span(&self, first: &ReadDate, last: &ReadDate) -> bool {
        let mut between = first.range.end..last.range.start;
        let is_between = first.range.start.checked_sub(1).is_some_and(|it| self.0[it] == "between");
        self.is_joined(first, last)
            && between.any(|it| self.is_one(it, &TO) || is_between && self.0[it] == "and")
    }

    /// Returns the days of each date and of each span, with the range of its words.
    fn spans(&self, dates: &[ReadDate]) -> Vec<(AskedDays, Range<usize>)> {
        let mut spans = Vec::new();
        let mut rest = dates;
        while let [first, others @ ..] = rest {
            rest = others;
            if let [last, others @ ..] = others
                && self.is_span(first, last)
                && let Some(days) = days_from_to(first.date, last.date)
            {
                rest = others;
                let begin = first.range.start.checked_sub(1).filter(|it| self.0[*it] == "between");
                let range = begin.unwrap_or(first.range.start)..last.range.end;
                spans.push(((days.into(), DateWording::Day), range));
            } else if let Some(days) = first.date.days() {
                spans.push((days, first.range.clone()));
            }
        }
        spans
    }
}

impl RelativeOrAbsoluteDate {
    fn days(self) -> Option<AskedDays> {
        match self {
            RelativeOrAbsoluteDate::Relative(days) => Some((days, DateWording::Relative)),
            RelativeOrAbsoluteDate::Absolute(date) => {
                let is_day = date.day.is_some();
                Some((
                    date.span()?.into(),
                    if is_day { DateWording::Day } else { DateWording::Month },
                ))
            }
        }
    }
}

/// Returns the days from a date to a later one. Without a year, the later one may be of the next.
fn days_from_to(first: RelativeOrAbsoluteDate, last: RelativeOrAbsoluteDate) -> Option<DaySpan> {
    let [first, last] = [first.days()?.0.all, last.days()?.0.all];
    let turn = if first.has_year { 0 } else { YEAR_DAYS };
    let last_day = if last.last < first.first { last.last + turn } else { last.last };
    let is_span = first.has_year == last.has_year && first.first <= last_day;
    is_span.then_some(DaySpan { last: last_day, ..first })
}

/// Returns whether a word is a number that may be a day of a month.
fn is_bare_day(word: &str) -> bool {
    word.len() <= 2
        && word.bytes().all(|it| it.is_ascii_digit())
        && document_dates::day_of_month(word).is_some()
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

#[cfg(test)]
mod tests;
