//! Date forms: the ways in which texts and titles write the days that a question asks about.
//!
//! The question says `March 5, 2024` where the file is called `2024-03-05`. Each form is a
//! full-text expression. A form with the year is that date wherever it stands; one without, such as
//! `5 March`, may be that of another year. This module does no IO.

use super::document_dates::{DaySpan, MONTH_DAYS, YEAR_DAYS};
use crate::model::month_names::MONTHS;

/// Days that have forms of their own; of more, the months have.
const DAYS_MAX: i64 = 14;
/// Months that have forms of their own; of more, the years have.
const MONTHS_MAX: i64 = 12;
/// Years in which a day or month without one is sought where it is written with a year: the next
/// and those before.
const YEARS_BACK: i64 = 20;

/// The forms of some days, as full-text expressions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DateForms {
    /// Forms of one of the days wherever they stand.
    pub(super) exact: Vec<String>,
    /// Forms of one of the days where they are written with these full stops; with other signs they
    /// may be of another month. These are texts, no expressions.
    pub(super) dotted: Vec<String>,
    /// Forms that another day or year may have.
    pub(super) vague: Vec<String>,
}

/// Returns the forms of days. Where no year is known, those that have one are of years around
/// `this_year`.
pub(super) fn date_forms(days: DaySpan, this_year: i64) -> DateForms {
    let mut forms = DateForms::default();
    let months = days.first.div_euclid(MONTH_DAYS)..=days.last.div_euclid(MONTH_DAYS);
    let n_months = months.end() - months.start() + 1;
    if days.first == days.last {
        forms.add_day(days.first, days.has_year);
        if !days.has_year {
            let (_, month, day) = parts(days.first);
            forms.add_compact(this_year, &format!("{month:02}{day:02}"));
        }
    } else if days.last - days.first < DAYS_MAX {
        for day in days.first..=days.last {
            forms.add_numbers(day, days.has_year);
        }
        for month in months {
            forms.vague.extend(month_names(month));
            if !days.has_year {
                forms.add_compact(this_year, &format!("{:02}", month.rem_euclid(12) + 1));
            }
        }
    } else if days.has_year
        && (MONTHS_MAX < n_months || n_months == MONTHS_MAX && days.first % YEAR_DAYS == 0)
    {
        let years = days.first.div_euclid(YEAR_DAYS)..=days.last.div_euclid(YEAR_DAYS);
        forms.exact.extend(years.map(|it| format!("\"{it}\"")));
    } else {
        for month in months {
            forms.add_month(month, days.has_year, this_year);
        }
    }
    forms
}

impl DateForms {
    fn add_day(&mut self, day: i64, has_year: bool) {
        let (year, _, number) = parts(day);
        let mut named = Vec::new();
        for name in month_names(day.div_euclid(MONTH_DAYS)) {
            let name = name.trim_matches('"');
            let ordinal = ordinal(number);
            named.extend([
                format!("{name} {number}"),
                format!("{name} {ordinal}"),
                format!("{number} {name}"),
                format!("{ordinal} {name}"),
                format!("{ordinal} of {name}"),
            ]);
            if number < 10 {
                named.extend([format!("{name} 0{number}"), format!("0{number} {name}")]);
            }
        }
        self.vague.extend(named.iter().map(|it| format!("\"{it}\"")));
        self.add_numbers(day, has_year);
        if has_year {
            self.exact.extend(named.iter().map(|it| format!("\"{it} {year}\"")));
        }
    }

    /// Adds the forms of a day in numbers: `2024-03-05`, `2024-03-05T10:00`, `20240305`,
    /// `2024/3/5`, `5.3.2024`, `25/3/2024`.
    fn add_numbers(&mut self, day: i64, has_year: bool) {
        let (year, month, day) = parts(day);
        let is_short = month < 10 || day < 10;
        if !has_year {
            let (long, short) = (format!("{month:02} {day:02}"), format!("{month} {day}"));
            self.vague.extend([format!("\"{long}\""), format!("\"{long}t\"*")]);
            self.vague.extend(is_short.then(|| format!("\"{short}\"")));
            if day != month {
                self.vague.push(format!("\"{day:02} {month:02}\""));
                self.vague.extend(is_short.then(|| format!("\"{day} {month}\"")));
            }
            return;
        }
        self.exact.extend([
            format!("\"{year} {month:02} {day:02}\""),
            format!("\"{year} {month:02} {day:02}t\"*"),
            format!("\"{year}{month:02}{day:02}\"*"),
        ]);
        if is_short {
            self.exact.push(format!("\"{year} {month} {day}\""));
        }
        let mut dotted = vec![format!("{day:02}.{month:02}.{year}")];
        if is_short {
            dotted.push(format!("{day}.{month}.{year}"));
        }
        if 12 < day || day == month {
            self.exact.extend(dotted.iter().map(|it| phrase_of_dotted(it)));
            let turned = [format!("{month:02} {day:02} {year}"), format!("{month} {day} {year}")];
            let n_turned = if is_short { 2 } else { 1 };
            let turned = turned.iter().take(n_turned).filter(|_| day != month);
            self.exact.extend(turned.map(|it| format!("\"{it}\"")));
        } else {
            self.vague.extend(dotted.iter().map(|it| phrase_of_dotted(it)));
            self.dotted.extend(dotted);
        }
    }

    fn add_month(&mut self, month: i64, has_year: bool, this_year: i64) {
        let number = month.rem_euclid(12) + 1;
        self.vague.extend(month_names(month));
        if !has_year {
            for year in years_around(this_year) {
                self.vague.push(format!("\"{year} {number:02}\""));
                self.vague
                    .extend(dotted_months(number, year).iter().map(|it| phrase_of_dotted(it)));
            }
            self.add_compact(this_year, &format!("{number:02}"));
            return;
        }
        let year = month.div_euclid(12);
        self.exact.extend([format!("\"{year} {number:02}\""), format!("\"{year}{number:02}\"*")]);
        let near = month_names(month).into_iter();
        self.exact.extend(near.map(|it| format!("NEAR({it} \"{year}\", 2)")));
        let dotted = dotted_months(number, year);
        self.vague.extend(dotted.iter().map(|it| phrase_of_dotted(it)));
        self.dotted.extend(dotted);
    }

    /// Adds `20240613` for digits behind the year, in any year that may be meant.
    fn add_compact(&mut self, this_year: i64, digits: &str) {
        self.vague.extend(years_around(this_year).map(|year| format!("\"{year}{digits}\"*")));
    }
}

/// Returns the years that a date without one may be of, the latest first.
fn years_around(this_year: i64) -> impl Iterator<Item = i64> {
    (this_year - YEARS_BACK..=this_year + 1).rev()
}

/// Returns the full-text phrase of a text with full stops, `5.3.2024`.
pub(super) fn phrase_of_dotted(text: &str) -> String {
    format!("\"{}\"", text.trim_start_matches('.').replace('.', " "))
}

/// Returns the ends of the days of a month, `.03.2024` and `.3.2024`.
fn dotted_months(number: i64, year: i64) -> Vec<String> {
    let mut ends = vec![format!(".{number:02}.{year}")];
    ends.extend((number < 10).then(|| format!(".{number}.{year}")));
    ends
}

/// Returns the year, the month and the day of the month of a day.
fn parts(day: i64) -> (i64, i64, i64) {
    let month = day.div_euclid(MONTH_DAYS);
    (month.div_euclid(12), month.rem_euclid(12) + 1, day.rem_euclid(MONTH_DAYS) + 1)
}

/// Returns the names of a month, each in quotes.
fn month_names(month: i64) -> Vec<String> {
    let name = MONTHS[month.rem_euclid(12) as usize];
    let mut names = vec![format!("\"{name}\"")];
    if 3 < name.len() {
        names.push(format!("\"{}\"", &name[..3]));
    }
    if name == "september" {
        names.push("\"sept\"".to_owned());
    }
    names
}

/// Returns `1st`, `2nd`, `3rd`, `4th`.
fn ordinal(number: i64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests;
