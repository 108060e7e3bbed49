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
    ("mV", "mv", 1),
    ("kV", "kv", 1),
    ("mA", "ma", 1),
    ("mW", "mw", 1),
    ("kW", "kw", 1),
    ("MW", "megawatt", 1),
    ("kWh", "kwh", 1),
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

/// Spellings in scripts that put no spaces between words, which begin with the longest one.
const SPACELESS: &[Unit] = &[
    ("秒", "ns", SECOND),
    ("秒間", "ns", SECOND),
    ("秒钟", "ns", SECOND),
    ("秒鐘", "ns", SECOND),
    ("초", "ns", SECOND),
    ("分", "ns", MINUTE),
    ("分間", "ns", MINUTE),
    ("分钟", "ns", MINUTE),
    ("分鐘", "ns", MINUTE),
    ("분", "ns", MINUTE),
    ("時間", "ns", HOUR),
    ("小时", "ns", HOUR),
    ("小時", "ns", HOUR),
    ("시간", "ns", HOUR),
    ("日", "ns", DAY),
    ("日間", "ns", DAY),
    ("天", "ns", DAY),
    ("일", "ns", DAY),
    ("週間", "ns", 7 * DAY),
    ("週", "ns", 7 * DAY),
    ("周", "ns", 7 * DAY),
    ("星期", "ns", 7 * DAY),
    ("주", "ns", 7 * DAY),
    ("か月", "month", 1),
    ("ヶ月", "month", 1),
    ("ケ月", "month", 1),
    ("ヵ月", "month", 1),
    ("个月", "month", 1),
    ("個月", "month", 1),
    ("개월", "month", 1),
    ("年", "month", 12),
    ("年間", "month", 12),
    ("년", "month", 12),
    // The hour of a day, and the month of a year.
    ("時", "時", 1),
    ("时", "時", 1),
    ("시", "時", 1),
    ("月", "月", 1),
    ("월", "月", 1),
    ("円", "jpy", 1),
    ("엔", "jpy", 1),
    ("원", "krw", 1),
    ("ドル", "usd", 1),
    ("美元", "usd", 1),
    ("달러", "usd", 1),
    ("ユーロ", "eur", 1),
    ("欧元", "eur", 1),
    ("歐元", "eur", 1),
    ("유로", "eur", 1),
    ("克", "mg", 1_000),
    ("千克", "mg", 1_000_000),
    ("公斤", "mg", 1_000_000),
    ("千米", "mm", 1_000_000),
    ("公里", "mm", 1_000_000),
    ("バイト", "byte", 1),
    ("字节", "byte", 1),
    ("바이트", "byte", 1),
    ("パーセント", "%", 1),
    ("퍼센트", "%", 1),
    ("명", "명", 1),
    ("개", "개", 1),
    ("번", "번", 1),
    ("대", "대", 1),
    ("つ", "つ", 1),
];

/// Signs of powers of ten behind digits in those scripts.
const POWERS: &[(char, i128)] = &[
    ('百', 100),
    ('백', 100),
    ('千', 1_000),
    ('천', 1_000),
    ('万', 10_000),
    ('萬', 10_000),
    ('만', 10_000),
    ('億', 100_000_000),
    ('亿', 100_000_000),
    ('억', 100_000_000),
    ('兆', 1_000_000_000_000),
    ('조', 1_000_000_000_000),
];

/// Signs of those scripts that are no unit behind a number, such as `and`.
const NO_UNITS: &str = "和与與及或而是的在到至以都也不未就";

/// The units that are a sign and a scale.
pub(super) const DEGREES: [&str; 4] = ["°C", "° C", "°F", "° F"];

/// Words by which a number is multiplied, and which a unit may follow.
const MULTIPLES: &[Unit] = &[
    ("dozen", "", 12),
    ("hundred", "", 100),
    ("k", "", 1_000),
    ("thousand", "", 1_000),
    ("lakh", "", 100_000),
    ("million", "", 1_000_000),
    ("crore", "", 10_000_000),
    ("billion", "", 1_000_000_000),
    ("trillion", "", 1_000_000_000_000),
];

/// Returns the base and the worth of a unit.
pub(super) fn unit(word: &str) -> Option<(&'static str, i128)> {
    let worth = |it: &Unit| (it.1, it.2);
    let exact = AS_WRITTEN.iter().find(|it| it.0 == word);
    let others = || IN_ANY_CASE.iter().chain(MONEY).chain(SPACELESS);
    exact.or_else(|| others().find(|it| it.0.eq_ignore_ascii_case(word))).map(worth)
}

/// Returns the bytes of the unit, or what may be one, at the beginning of a text in a script
/// without spaces: a known one, or else a word in Katakana or one Chinese character.
pub(super) fn spaceless_unit_end(text: &str) -> usize {
    let known = SPACELESS.iter().map(|it| it.0).filter(|it| text.starts_with(it));
    let n_letters = text.find(|it| !('ァ'..='ー').contains(&it)).unwrap_or(text.len());
    let first = text.chars().next().filter(|it| ('\u{3400}'..='\u{9fff}').contains(it));
    let one = first.filter(|it| !NO_UNITS.contains(*it)).map_or(0, char::len_utf8);
    known.map(str::len).max().unwrap_or(n_letters.max(one))
}

/// Returns the product of the signs of powers of ten at the beginning of a text, and the text
/// behind them, unless a unit such as `千克` begins there.
pub(super) fn powers_of_ten(text: &str) -> Option<(i128, &str)> {
    let (mut product, mut rest) = (1_i128, text);
    while let Some(sign) = rest.chars().next()
        && let Some((_, worth)) = POWERS.iter().find(|it| it.0 == sign)
        && spaceless_unit_end(rest) <= sign.len_utf8()
        && product < 1_000_000_000_000
    {
        product *= worth;
        rest = &rest[sign.len_utf8()..];
    }
    (rest.len() < text.len()).then_some((product, rest))
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
