//! Units of numbers in statements: their spellings, and what each is worth. Words of
//! several letters that are none of them are no part of a value.

/// A spelling of a unit, the base that its values are compared in, and how many of these it is.
///
/// `KB` to `EB` are 1,000 or 1,024 of the smaller one, which no text tells: each is a
/// base of its own.
type Unit = (&'static str, &'static str, i128);

const MICROSECOND: i128 = 1_000;
const MILLISECOND: i128 = 1_000 * MICROSECOND;
const SECOND: i128 = 1_000 * MILLISECOND;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;
const KIB: i128 = 1_024;

/// Spellings whose letter case tells them from others.
const AS_WRITTEN: &[Unit] = &[
    ("G", "G", 1),
    ("M", "M", 1),
    ("Gb", "gbit", 1),
    ("Kb", "kbit", 1),
    ("Mb", "mbit", 1),
    ("Tb", "tbit", 1),
    ("KBps", "kb/s", 1),
    ("MBps", "mb/s", 1),
    ("GBps", "gb/s", 1),
];

/// Spellings in any letter case.
const IN_ANY_CASE: &[Unit] = &[
    ("ns", "ns", 1),
    ("nanosecond", "ns", 1),
    ("nanoseconds", "ns", 1),
    ("us", "ns", MICROSECOND),
    ("µs", "ns", MICROSECOND),
    ("μs", "ns", MICROSECOND),
    ("microsecond", "ns", MICROSECOND),
    ("microseconds", "ns", MICROSECOND),
    ("ms", "ns", MILLISECOND),
    ("millisecond", "ns", MILLISECOND),
    ("milliseconds", "ns", MILLISECOND),
    ("s", "ns", SECOND),
    ("sec", "ns", SECOND),
    ("secs", "ns", SECOND),
    ("second", "ns", SECOND),
    ("seconds", "ns", SECOND),
    ("m", "ns", MINUTE),
    ("min", "ns", MINUTE),
    ("mins", "ns", MINUTE),
    ("minute", "ns", MINUTE),
    ("minutes", "ns", MINUTE),
    ("h", "ns", HOUR),
    ("hr", "ns", HOUR),
    ("hrs", "ns", HOUR),
    ("hour", "ns", HOUR),
    ("hours", "ns", HOUR),
    ("d", "ns", DAY),
    ("day", "ns", DAY),
    ("days", "ns", DAY),
    ("week", "ns", 7 * DAY),
    ("weeks", "ns", 7 * DAY),
    ("month", "month", 1),
    ("months", "month", 1),
    ("year", "month", 12),
    ("years", "month", 12),
    ("b", "byte", 1),
    ("byte", "byte", 1),
    ("bytes", "byte", 1),
    ("kib", "byte", KIB),
    ("mib", "byte", KIB * KIB),
    ("gib", "byte", KIB * KIB * KIB),
    ("tib", "byte", KIB * KIB * KIB * KIB),
    ("kb", "kb", 1),
    ("mb", "mb", 1),
    ("gb", "gb", 1),
    ("tb", "tb", 1),
    ("pb", "pb", 1),
    ("eb", "eb", 1),
    ("bps", "bps", 1),
    ("kbps", "bps", 1_000),
    ("mbps", "bps", 1_000_000),
    ("gbps", "bps", 1_000_000_000),
    ("tbps", "bps", 1_000_000_000_000),
    ("°C", "°c", 1),
    ("° C", "°c", 1),
    ("°F", "°f", 1),
    ("° F", "°f", 1),
    ("mm", "mm", 1),
    ("cm", "mm", 10),
    ("km", "mm", 1_000_000),
    ("mg", "mg", 1),
    ("g", "mg", 1_000),
    ("kg", "mg", 1_000_000),
    ("hz", "hz", 1),
    ("khz", "hz", 1_000),
    ("mhz", "hz", 1_000_000),
    ("ghz", "hz", 1_000_000_000),
    ("%", "%", 1),
    ("percent", "%", 1),
];

/// Spellings of units of money in any letter case, which may stand before a number.
const MONEY: &[Unit] = &[
    ("$", "usd", 1),
    ("usd", "usd", 1),
    ("dollar", "usd", 1),
    ("dollars", "usd", 1),
    ("€", "eur", 1),
    ("eur", "eur", 1),
    ("euro", "eur", 1),
    ("euros", "eur", 1),
    ("£", "gbp", 1),
    ("gbp", "gbp", 1),
    ("¥", "¥", 1),
    ("jpy", "jpy", 1),
    ("cny", "cny", 1),
    ("chf", "chf", 1),
    ("cad", "cad", 1),
    ("aud", "aud", 1),
    ("₹", "inr", 1),
    ("inr", "inr", 1),
];

/// The units that are a sign and a scale.
pub(super) const DEGREES: [&str; 4] = ["°C", "° C", "°F", "° F"];

/// Words by which a number is multiplied, and which a unit may follow.
const MULTIPLES: &[Unit] = &[
    ("k", "", 1_000),
    ("thousand", "", 1_000),
    ("million", "", 1_000_000),
    ("billion", "", 1_000_000_000),
];

/// Returns the base and the worth of a unit.
pub(super) fn unit(word: &str) -> Option<(&'static str, i128)> {
    let worth = |it: &Unit| (it.1, it.2);
    let exact = AS_WRITTEN.iter().find(|it| it.0 == word);
    let in_any_case = || IN_ANY_CASE.iter().chain(MONEY).find(|it| it.0.eq_ignore_ascii_case(word));
    exact.or_else(in_any_case).map(worth)
}

/// Returns the number that a word such as `million` is.
pub(super) fn multiple(word: &str) -> Option<i128> {
    MULTIPLES.iter().find(|it| it.0.eq_ignore_ascii_case(word)).map(|it| it.2)
}

/// Returns the base of a unit of money.
pub(super) fn currency(word: &str) -> Option<&'static str> {
    MONEY.iter().find(|it| it.0.eq_ignore_ascii_case(word)).map(|it| it.1)
}

/// Returns the base of the dollars with letters before the sign, such as `US`.
pub(super) fn dollars_of(letters: &str) -> String {
    match letters {
        "US" => "usd".to_owned(),
        "CA" | "C" => "cad".to_owned(),
        "AU" | "A" => "aud".to_owned(),
        _ => {
            currency(letters).map_or_else(|| format!("{}$", letters.to_lowercase()), str::to_owned)
        }
    }
}
