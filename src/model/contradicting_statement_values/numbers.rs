//! Numbers in statements: each with its sign and its unit, in one form however it is written.
//!
//! - `1,000`, `1_000` and `1000` are one number, and so are `1.0` and `1`.
//! - With a unit, numbers of one base are compared by what they are worth: `60 s` and `1 minute`.
//!   Smaller units behind it belong to it: `1 minute 30 seconds`, `1m30s`.
//! - Without one, further zeros behind a point count, since `3.10` may be a version. A `v` before
//!   it and a `.0` at its end do not.
//! - One letter behind a number is a unit in any letter case: `4A`, `5 L`. Behind a space it may be
//!   none, as in `3 A records`: the value has both readings then, a space between them.
//! - Codes belong to the number: `1.2b3`, `1.2.3a`, `0x1f`, `2.0-rc1`. Whatever else touches it and
//!   is no unit is a word: `16px` is `16 px`, `3x` is `3 x`, `5°` is `5`.

use super::decimal::Decimal;
use super::units::{DEGREES, currency, dollars_of, multiple, unit};

/// Signs between groups of three digits.
const GROUPING: [char; 7] = [',', '_', '\'', '’', '\u{a0}', '\u{2009}', '\u{202f}'];

/// Spaces between a number and what belongs to it.
pub(super) const SPACES: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// Words that begin what stands behind the number of a version and a hyphen.
const PRERELEASES: [&str; 8] =
    ["alpha", "beta", "rc", "pre", "preview", "dev", "nightly", "snapshot"];

/// Spellings of the halves of a day behind a time.
const HALVES_OF_DAY: [(&str, &str); 6] =
    [("a.m.", "am"), ("p.m.", "pm"), ("a.m", "am"), ("p.m", "pm"), ("am", "am"), ("pm", "pm")];

/// Words of one letter, which behind a space are no unit.
const LETTER_WORDS: [&str; 2] = ["a", "I"];

/// Digits of a number that is reckoned with, at most.
const DIGITS_MAX: usize = 20;

/// A number as written.
struct WrittenNumber<'a> {
    is_negative: bool,
    /// Its digits without signs between groups, then those behind each point.
    groups: Vec<String>,
    /// A power of ten.
    exponent: i32,
    /// The text behind it.
    rest: &'a str,
}

/// Returns the number at the beginning of a text in its one form, and the bytes that it takes;
/// `before` is the character before it.
pub(super) fn number(text: &str, before: Option<char>) -> Option<(String, usize)> {
    let begins = |it: char| it.is_whitespace() || "([{=:,;<>\"'`|".contains(it);
    let (is_negative, rest) = match text.strip_prefix(['-', '−']) {
        Some(rest) if before.is_none_or(begins) => (true, rest),
        Some(_) => return None,
        None => (false, text),
    };
    let sign = rest.chars().next().filter(|it| !it.is_alphanumeric());
    let money = sign.and_then(|it| Some((it, currency(it.encode_utf8(&mut [0; 4]))?)));
    let rest = money.map_or(rest, |it| &rest[it.0.len_utf8()..]);
    let (is_negative, rest) = match rest.strip_prefix(['-', '−']) {
        Some(rest) if money.is_some() => (true, rest),
        _ => (is_negative, rest),
    };
    if let Some(code) = hexadecimal(rest) {
        return Some((code.to_lowercase(), text.len() - rest.len() + code.len()));
    }
    let written = written(rest, is_negative)?;
    let (shown, rest) = with_unit(&written, money.map(|it| it.1));
    Some((shown, text.len() - rest.len()))
}

/// Returns the version at the beginning of a text, behind its `v` if it has one.
pub(super) fn version(text: &str) -> Option<(String, usize)> {
    let digits = text.strip_prefix(['v', 'V'])?;
    let (shown, n_bytes) = number(digits, None).filter(|_| starts_with_digit(digits))?;
    Some((shown, n_bytes + 1))
}

/// Returns the number at the beginning of a text whose unit of money stands before it: `USD 5`,
/// `US$5`.
pub(super) fn price(text: &str) -> Option<(String, usize)> {
    let (word, rest) = text.split_at(word_end(text));
    let dollars = rest.strip_prefix('$').filter(|_| (1..=3).contains(&word.len()));
    let base = match dollars {
        Some(_) => dollars_of(word),
        None => currency(word)?.to_owned(),
    };
    let rest = dollars.unwrap_or(rest).trim_start_matches(SPACES);
    let unsigned = rest.strip_prefix(['-', '−']);
    let written = written(unsigned.unwrap_or(rest), unsigned.is_some())?;
    let (shown, rest) = with_unit(&written, Some(&base));
    Some((shown, text.len() - rest.len()))
}

pub(super) fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
}

fn digits(text: &str) -> &str {
    &text[..text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len())]
}

/// Returns the letters and digits at the beginning of a text, with the points between them.
pub(super) fn code(text: &str) -> &str {
    let is_code = |it: char| it.is_alphanumeric() || it == '.';
    text[..text.find(|it| !is_code(it)).unwrap_or(text.len())].trim_end_matches('.')
}

fn hexadecimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let n_digits = digits.find(|it: char| !it.is_alphanumeric()).unwrap_or(digits.len());
    (0 < n_digits).then(|| &text[..2 + n_digits])
}

fn written(text: &str, is_negative: bool) -> Option<WrittenNumber<'_>> {
    let mut whole = digits(text).to_owned();
    let mut rest = &text[whole.len()..];
    if whole.is_empty() && !rest.strip_prefix('.').is_some_and(starts_with_digit) {
        return None;
    }
    let separator = rest.chars().next().filter(|it| GROUPING.contains(it));
    if let Some(separator) = separator.filter(|_| whole.len() <= 3 && !whole.starts_with('0')) {
        while let Some(group) = rest.strip_prefix(separator).map(digits)
            && group.len() == 3
        {
            whole.push_str(group);
            rest = &rest[separator.len_utf8() + 3..];
        }
    }
    let mut groups = vec![whole];
    while let Some(group) = rest.strip_prefix('.').map(digits)
        && !group.is_empty()
    {
        groups.push(group.to_owned());
        rest = &rest[1 + group.len()..];
    }
    let mut exponent = 0;
    if groups.len() <= 2
        && let Some(power) = rest.strip_prefix(['e', 'E'])
    {
        let sign = power.strip_prefix('-');
        let power = sign.or_else(|| power.strip_prefix('+')).unwrap_or(power);
        let n_digits = digits(power).len();
        let is_whole = !power[n_digits..].starts_with(char::is_alphanumeric);
        if let (1..=2, true) = (n_digits, is_whole) {
            let size = power[..n_digits].parse().unwrap_or(0);
            exponent = if sign.is_some() { -size } else { size };
            rest = &power[n_digits..];
        }
    }
    Some(WrittenNumber { is_negative, groups, exponent, rest })
}

/// Returns a number with its unit in one form, and the text behind both.
fn with_unit<'a>(written: &WrittenNumber<'a>, money: Option<&str>) -> (String, &'a str) {
    if money.is_none()
        && let Some(read) = clock_time(written).or_else(|| unit_sum(written))
    {
        return read;
    }
    let rest = written.rest;
    let (attached, after) = rest.split_at(word_end(rest));
    if !attached.is_empty() && multiplied(rest).is_none() {
        let is_code = money.is_some()
            || 2 < written.groups.len()
            || attached.contains(|it: char| it.is_ascii_digit())
            || attached.chars().all(char::is_numeric)
            || is_letter(attached) && !is_word_end(after);
        return match unit(attached).filter(|_| money.is_none()) {
            Some((base, worth)) => (amount(written, worth, base), after),
            None if is_code => coded(written, money),
            None if is_letter(attached) => {
                (amount(written, 1, &attached.to_ascii_lowercase()), after)
            }
            None => (plain(written), rest),
        };
    }
    if let Some(release) = prerelease(written) {
        return (format!("{}{}", plain(written), release.to_lowercase()), &rest[release.len()..]);
    }
    let (mut rest, mut factor) = (rest, 1);
    if let Some((worth, after)) = multiplied(behind_joint(rest).unwrap_or(rest)) {
        (rest, factor) = (after, worth);
    }
    if let Some(base) = money {
        return (amount(written, factor, base), rest);
    }
    let word = behind_joint(rest).or_else(|| (factor != 1).then_some(rest));
    let (word, after) = word.map_or(("", rest), |it| it.split_at(word_end(it)));
    if let Some((base, worth)) = unit(word) {
        return (amount(written, factor * worth, base), after);
    }
    let shown = if factor == 1 { plain(written) } else { amount(written, factor, "") };
    let is_unit = is_letter(word) && is_word_end(after) && !LETTER_WORDS.contains(&word);
    if is_unit && written.groups.len() <= 2 {
        let with_letter = amount(written, factor, &word.to_ascii_lowercase());
        return (format!("{with_letter} {shown}"), after);
    }
    (shown, rest)
}

/// Returns the multiple at the beginning of a text, and the text behind it: that of `k`, also where
/// a unit of money touches it, as in `kEUR`.
fn multiplied(text: &str) -> Option<(i128, &str)> {
    let (word, after) = text.split_at(word_end(text));
    let worth = multiple(word).map(|it| (it, after));
    worth.or_else(|| {
        let money = word.strip_prefix(['k', 'K']).filter(|it| currency(it).is_some())?;
        Some((1_000, &text[word.len() - money.len()..]))
    })
}

fn is_letter(word: &str) -> bool {
    let is_one = |it: &u8| it.is_ascii_alphabetic() && !it.eq_ignore_ascii_case(&b'x');
    matches!(word.as_bytes(), [letter] if is_one(letter))
}

/// Returns whether a word ends before a text, unlike the `U` of `U.S.` and the `o` of `o'clock`.
fn is_word_end(after: &str) -> bool {
    let more = after.strip_prefix(['.', '\'', '’', '-']);
    !more.is_some_and(|it| it.starts_with(char::is_alphanumeric))
}

/// Returns the sum of a number and those behind it, each with a smaller unit of one base, as in
/// `5 minutes 30 seconds` and `5m30s`, and the text behind them; none where there is only one.
fn unit_sum<'a>(first: &WrittenNumber<'a>) -> Option<(String, &'a str)> {
    let (base, mut worth_before, mut rest) = next_unit(first.rest)?;
    let mut sum = decimal(first, worth_before)?;
    let mut n_parts = 1;
    while let Some(next) = written(after_joint(rest), false)
        && let Some((base_of_next, worth, after)) = next_unit(next.rest)
        && base_of_next == base
        && worth < worth_before
    {
        sum = sum.plus(decimal(&next, worth)?)?;
        (worth_before, rest) = (worth, after);
        n_parts += 1;
    }
    let is_sum = 1 < n_parts && !rest.starts_with(char::is_alphanumeric);
    is_sum.then(|| (format!("{}{base}", sum.shown(first.is_negative)), rest))
}

/// Returns the base and the worth of the unit behind a number, and the text behind that.
fn next_unit(text: &str) -> Option<(&'static str, i128, &str)> {
    let text = text.trim_start_matches(SPACES);
    let n_letters = text.find(|it: char| !it.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(n_letters);
    let (base, worth) = unit(word)?;
    Some((base, worth, rest))
}

/// Returns the text behind what joins the parts of a sum: spaces, a comma, or `and` between them.
fn after_joint(text: &str) -> &str {
    let rest = text.strip_prefix(", ").unwrap_or(text);
    let rest = rest.trim_start_matches(SPACES);
    match rest.strip_prefix("and ") {
        Some(after) if rest.len() < text.len() => after,
        _ => rest,
    }
}

/// Returns the unit at the beginning of a text that something is counted by, as in `10 MB/s` and
/// `5 requests per second`, and the bytes that it takes.
pub(super) fn rate(text: &str) -> Option<(String, usize)> {
    let word = text.strip_prefix('/').or_else(|| text.strip_prefix("per "))?;
    let n_bytes = word_end(word);
    let (base, worth) = unit(&word[..n_bytes])?;
    Some((format!("/{worth}{base}"), text.len() - word.len() + n_bytes))
}

/// Returns the text from the word behind a number on: behind spaces or a hyphen.
fn behind_joint(text: &str) -> Option<&str> {
    let word = text.trim_start_matches(SPACES);
    if word.len() == text.len() { text.strip_prefix('-') } else { Some(word) }
}

/// Returns where a word ends that may be a unit: letters and digits, one sign, or that of degrees
/// with its scale.
fn word_end(text: &str) -> usize {
    match text.chars().next() {
        Some('°') => {
            let is_end = |it: &&str| !text[it.len()..].starts_with(char::is_alphanumeric);
            let mut spellings = DEGREES.into_iter().filter(|it| text.starts_with(it));
            spellings.find(is_end).map_or('°'.len_utf8(), str::len)
        }
        Some(sign) if !sign.is_alphanumeric() && unit(sign.encode_utf8(&mut [0; 4])).is_some() => {
            sign.len_utf8()
        }
        _ => text.find(|it: char| !it.is_alphanumeric()).unwrap_or(text.len()),
    }
}

/// Returns a number with what is attached to it, as written in lower case.
fn coded<'a>(written: &WrittenNumber<'a>, money: Option<&str>) -> (String, &'a str) {
    let rest = written.rest;
    let code = code(rest);
    let sign = if written.is_negative { "-" } else { "" };
    let number = written.groups.join(".");
    let shown = format!("{sign}{number}{}{}", code.to_lowercase(), money.unwrap_or_default());
    (shown, &rest[code.len()..])
}

/// Returns what stands behind the number of a version, such as `-rc1`.
fn prerelease<'a>(written: &WrittenNumber<'a>) -> Option<&'a str> {
    let after = written.rest.strip_prefix('-')?;
    let n_letters = after.find(|it: char| !it.is_alphabetic()).unwrap_or(after.len());
    let is_one = PRERELEASES.contains(&after[..n_letters].to_lowercase().as_str());
    is_one.then(|| &written.rest[..1 + code(after).len()])
}

/// Returns a time of the day: `9:30`, `9:30:00`, or `9 am`.
fn clock_time<'a>(written: &WrittenNumber<'a>) -> Option<(String, &'a str)> {
    let [hour] = &written.groups[..] else { return None };
    let mut rest = written.rest;
    let mut shown = hour.trim_start_matches('0').to_owned();
    let mut n_parts = 0;
    while let Some(part) = rest.strip_prefix(':').map(digits)
        && part.len() == 2
        && n_parts < 2
    {
        shown = format!("{shown}:{part}");
        rest = &rest[3..];
        n_parts += 1;
    }
    if 2 < hour.len() {
        return None;
    }
    if let Some((half, rest)) = half_of_day(rest) {
        return Some((format!("{}{half}", shown.trim_end_matches(":00")), rest));
    }
    let n_letters = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
    shown.push_str(&rest[..n_letters].to_lowercase());
    (0 < n_parts).then(|| (shown, &rest[n_letters..]))
}

/// Returns the half of the day that is named behind a time, and the text behind that.
fn half_of_day(text: &str) -> Option<(&'static str, &str)> {
    let text = text.trim_start_matches(SPACES);
    HALVES_OF_DAY.iter().find_map(|(spelling, half)| {
        let (start, rest) = text.split_at_checked(spelling.len())?;
        let is_it =
            start.eq_ignore_ascii_case(spelling) && !rest.starts_with(char::is_alphanumeric);
        is_it.then_some((*half, rest))
    })
}

/// Returns a number without a unit, in one form.
fn plain(written: &WrittenNumber<'_>) -> String {
    let mut groups: Vec<&str> = written.groups.iter().map(String::as_str).collect();
    if written.exponent != 0 && groups.len() <= 2 {
        return amount(written, 1, "");
    }
    let is_zero = |it: &&str| it.bytes().all(|it| it == b'0');
    while 1 < groups.len() && groups.last().is_some_and(is_zero) {
        groups.pop();
    }
    groups[0] = groups[0].trim_start_matches('0');
    let whole = if groups[0].is_empty() { "0" } else { groups[0] };
    let shown = std::iter::once(whole).chain(groups[1..].iter().copied());
    let shown = shown.collect::<Vec<_>>().join(".");
    if written.is_negative && shown != "0" { format!("-{shown}") } else { shown }
}

/// Returns how many of a base a number is, without zeros that mean nothing.
fn amount(written: &WrittenNumber<'_>, worth: i128, base: &str) -> String {
    match decimal(written, worth) {
        Some(exact) => format!("{}{base}", exact.shown(written.is_negative)),
        None => {
            let WrittenNumber { is_negative, groups, exponent, .. } = written;
            let sign = if *is_negative { "-" } else { "" };
            format!("{sign}{}e{exponent}×{worth}{base}", groups.join("."))
        }
    }
}

/// Returns a number times a worth, without its sign; none where it cannot be reckoned with.
fn decimal(written: &WrittenNumber<'_>, worth: i128) -> Option<Decimal> {
    let [whole, fraction @ ..] = &written.groups[..] else { return None };
    let fraction = match fraction {
        [] => "",
        [one] => one.as_str(),
        _ => return None,
    };
    let all = format!("{whole}{fraction}");
    if DIGITS_MAX < all.len() {
        return None;
    }
    let digits = all.parse::<i128>().ok()?.checked_mul(worth)?;
    let n_behind = i32::try_from(fraction.len()).ok()? - written.exponent;
    Decimal::new(digits, n_behind)
}
