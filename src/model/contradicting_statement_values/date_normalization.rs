//! Dates in statements: a day or a month, in one form however it is written.
//!
//! `2026-01-02`, `2 January 2026`, `2-Jan-2026` and `02.01.2026` are one day, and so is a date
//! with slashes that has only one reading; one that has two stays as it is written. A day without a
//! year is `--01-02`, a month `2026-01`. Without a year, `may` in small letters is a word.

use super::numbers::{SPACES, starts_with_digit};
use crate::model::month_names::{MONTHS, month_number};

/// Bytes of the longest date that is read.
const DATE_BYTES_MAX: usize = 40;

/// Months that are other words, too, where they begin with a small letter.
const MONTHS_AND_WORDS: [&str; 3] = ["march", "may", "august"];

/// A part of a date as written: a number, the name of a month, or a sign.
enum DateToken {
    Number { value: u32, n_digits: usize },
    Month { number: u32, is_name: bool },
    Sign(char),
}

/// Returns the date at the beginning of a text, and the bytes that it takes.
pub(super) fn date(text: &str) -> Option<(String, usize)> {
    let first = text.chars().next()?;
    match first.is_ascii_digit() {
        true => in_digits(text).or_else(|| with_month(text)).or_else(|| in_signs(text)),
        false if first.is_alphabetic() => with_month(text),
        false => None,
    }
}

/// Reads `2026-01-02`, `2026/01/02`, `2026-01`, `02.01.2026` and `13/01/2026`.
fn in_digits(text: &str) -> Option<(String, usize)> {
    let mut parts: Vec<(u32, usize)> = Vec::new();
    let (mut signs, mut at) = (Vec::new(), 0);
    while parts.len() < 3 {
        let (value, n_digits) = digits(&text[at..])?;
        parts.push((value, n_digits));
        at += n_digits;
        match text[at..].chars().next() {
            Some(sign @ ('-' | '/' | '.')) if digits(&text[at + 1..]).is_some() => {
                signs.push(sign);
                at += 1;
            }
            _ => break,
        }
    }
    let is_end = |it: char| !it.is_alphanumeric() || it == 'T';
    let is_whole = signs.len() < parts.len() && text[at..].chars().next().is_none_or(is_end);
    let shown = match (&parts[..], &signs[..]) {
        _ if !is_whole => None,
        ([(year, 4), (month, 1 | 2), (day, 1 | 2)], ['-', '-'] | ['/', '/']) => {
            day_of(Some(*year), *month, *day)
        }
        ([(year, 4), (month, 2)], ['-']) => month_of(*year, *month),
        ([(day, 1 | 2), (month, 1 | 2), (year, 4)], ['.', '.']) => {
            day_of(Some(*year), *month, *day)
        }
        ([(a, 1 | 2), (b, 1 | 2), (year, 4)], ['/', '/'] | ['-', '-']) => {
            match (day_of(Some(*year), *a, *b), day_of(Some(*year), *b, *a)) {
                (Some(one), Some(other)) if one != other => Some(format!("{a}/{b}/{year}")),
                (one, other) => one.or(other),
            }
        }
        // Nobody can tell which part is the day, and which the year.
        ([(a, 1 | 2), (b, 1 | 2), (c, 2)], ['/', '/'] | ['-', '-']) => {
            Some(format!("{a}/{b}/{c:02}"))
        }
        _ => None,
    };
    Some((shown?, at))
}

/// Reads `2026年1月2日`, `1月2日` and `2026年`, the signs in Chinese, Japanese or Korean.
fn in_signs(text: &str) -> Option<(String, usize)> {
    let part = |text: &str, signs: &[char]| {
        let unspaced = text.trim_start_matches(SPACES);
        let (value, n_digits) = digits(unspaced)?;
        let rest = unspaced[n_digits..].trim_start_matches(SPACES).strip_prefix(signs)?;
        Some((value, n_digits, text.len() - rest.len()))
    };
    let year = part(text, &['年', '년']).filter(|it| it.1 == 4);
    let mut at = year.map_or(0, |it| it.2);
    let month = part(&text[at..], &['月', '월']).filter(|it| it.1 <= 2);
    at += month.map_or(0, |it| it.2);
    let day =
        month.and_then(|_| part(&text[at..], &['日', '号', '號', '일'])).filter(|it| it.1 <= 2);
    at += day.map_or(0, |it| it.2);
    let shown = match [year, month, day].map(|it| it.map(|it| it.0)) {
        [year, Some(month), Some(day)] => day_of(year, month, day),
        [Some(year), Some(month), None] => month_of(year, month),
        [Some(year), None, _] if !text[at..].starts_with(['間', '间']) => Some(year.to_string()),
        _ => None,
    };
    Some((shown?, at))
}

/// Reads `2 January 2026`, `2nd of January`, `2. January 2026`, `January 2, 2026`, `January 2026`
/// and `2026 January 2`, also with a sign between a month and its neighbours: `2-Jan-2026`.
fn with_month(text: &str) -> Option<(String, usize)> {
    let text = &text[..text.floor_char_boundary(DATE_BYTES_MAX)];
    let (mut day, mut month, mut year) = (None, None, None);
    let (mut is_name, mut is_pointed, mut is_year_first) = (false, false, false);
    let (mut at, mut end) = (0, 0);
    while let Some((part, n_bytes)) = part(&text[at..]) {
        match part {
            DateToken::Number { .. } if !is_whole(text, (at, at + n_bytes), month.is_some()) => {
                break;
            }
            DateToken::Number { value, n_digits: 1 | 2 }
                if day.is_none() && (month.is_some() || year.is_none()) =>
            {
                day = Some(value);
            }
            DateToken::Number { value, n_digits: 4 }
                if year.is_none() && (month.is_some() || day.is_none()) =>
            {
                (year, is_year_first) = (Some(value), month.is_none());
            }
            DateToken::Month { number, is_name: it }
                if month.is_none() && (it || year.is_none()) =>
            {
                (month, is_name) = (Some(number), it);
            }
            DateToken::Sign('.') if day.is_some() && month.is_none() && !is_pointed => {
                is_pointed = true;
            }
            DateToken::Sign(',') if day.is_some() && month.is_some() && year.is_none() => {
                at += n_bytes;
                continue;
            }
            DateToken::Sign(' ') => {
                at += n_bytes;
                continue;
            }
            DateToken::Sign(_) if is_joint(text, at, month.is_some()) => {
                at += n_bytes;
                continue;
            }
            _ => break,
        }
        at += n_bytes;
        end = at;
        if year.is_some() && month.is_some() && (day.is_some() || !is_year_first) {
            break;
        }
    }
    let shown = match (day, month, year) {
        // `5 may join` is none, nor is `5. May it grow`.
        (Some(day), Some(month), _) if is_name && !is_pointed || year.is_some() => {
            day_of(year, month, day)
        }
        (None, Some(month), Some(year)) => month_of(year, month),
        _ => None,
    };
    Some((shown?, end))
}

/// Returns whether a number of a text ends where its digits do, and is no part of `2.5` or `2-1`.
/// Behind a month it may be the first of some days, or the one before the year: `Jan-02-2026`.
fn is_whole(text: &str, (start, end): (usize, usize), has_month: bool) -> bool {
    let rest = &text[end..];
    let Some(sign) = rest.chars().next().filter(|it| ".,-:".contains(*it)) else { return true };
    let number = &rest[1..];
    let is_pointed = sign == '.' && !text[..start].ends_with('.');
    let is_last_day = sign == '-' && matches!(digits(number), Some((_, 1 | 2)));
    let is_more = is_last_day || is_year(number) && sign != ':' && !is_pointed;
    !starts_with_digit(number) || has_month && is_more
}

/// Returns whether a text begins with a number of four digits.
fn is_year(text: &str) -> bool {
    let behind = text.get(4..).filter(|_| matches!(digits(text), Some((_, 4))));
    behind.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
}

/// Returns whether the sign at a place touches the name of a month and another part of its date,
/// or the day and the year behind it.
fn is_joint(text: &str, at: usize, has_month: bool) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    match has_month {
        true if before.ends_with(char::is_alphabetic) => starts_with_digit(after),
        true => before.ends_with(|it: char| it.is_ascii_digit()) && is_year(after),
        false => {
            before.ends_with(char::is_alphanumeric)
                && matches!(part(after), Some((DateToken::Month { .. }, _)))
        }
    }
}

/// Reads the next part of a date that has the name of its month.
fn part(text: &str) -> Option<(DateToken, usize)> {
    if let Some((value, n_digits)) = digits(text) {
        let after = &text[n_digits..];
        let ending = ["st", "nd", "rd", "th"].into_iter().find(|it| after.starts_with(it));
        let n_bytes = n_digits + ending.map_or(0, str::len);
        let is_more = |it: char| it.is_alphanumeric() || it == '%';
        let is_word = text[n_bytes..].starts_with(is_more);
        return (!is_word).then_some((DateToken::Number { value, n_digits }, n_bytes));
    }
    let n_bytes = text.find(|it: char| !it.is_alphabetic()).unwrap_or(text.len());
    let word = &text[..n_bytes];
    if word.is_empty() {
        return match text.chars().next()? {
            it if SPACES.contains(&it) => Some((DateToken::Sign(' '), it.len_utf8())),
            it @ (',' | '.' | '-' | '/') => Some((DateToken::Sign(it), 1)),
            _ => None,
        };
    }
    if word.eq_ignore_ascii_case("of") {
        return Some((DateToken::Sign(' '), n_bytes));
    }
    let number = month_number(word)?;
    let is_whole = word.len() == MONTHS[number as usize - 1].len();
    let is_short = !is_whole && text[n_bytes..].starts_with('.');
    let is_name = word.starts_with(char::is_uppercase) || !MONTHS_AND_WORDS.contains(&word);
    let part = DateToken::Month { number, is_name };
    Some((part, n_bytes + usize::from(is_short)))
}

/// Returns the number of at most four digits at the beginning of a text, and how many these are.
fn digits(text: &str) -> Option<(u32, usize)> {
    let n_digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    match n_digits {
        1..=4 => Some((text[..n_digits].parse().ok()?, n_digits)),
        _ => None,
    }
}

fn day_of(year: Option<u32>, month: u32, day: u32) -> Option<String> {
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    let year = year.map_or("-".to_owned(), |it| format!("{it:04}"));
    is_day.then(|| format!("{year}-{month:02}-{day:02}"))
}

fn month_of(year: u32, month: u32) -> Option<String> {
    (1..=12).contains(&month).then(|| format!("{year:04}-{month:02}"))
}
