//! Names of months in English, as texts write them. This module does no IO.

/// The names of the months, in lower case.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the number of the month, from 1, that a word names: whole or by three letters, or by
/// `sept`, in any letter case.
pub(crate) fn month_number(word: &str) -> Option<u32> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(word);
    let is_month =
        |month: &&str| is_it(month) || is_it(&month[..3]) || *month == "september" && is_it("sept");
    Some(MONTHS.iter().position(is_month)? as u32 + 1)
}
