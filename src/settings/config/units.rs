//! Parses durations and sizes as people write them: `1m30s`, `500ms`, `10MB`, `1.5 GiB`.

use std::time::Duration;

/// Help on the notation of a duration, for messages.
pub(super) const DURATION_HELP: &str =
    "write it with its unit, as in \"500ms\", \"30s\", \"1h30m\"";

/// Help on the notation of a size, for messages.
pub(super) const SIZE_HELP: &str = "write it with its unit, as in \"512KB\", \"10MB\", \"1.5GiB\"";

/// A duration, possibly below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignedDuration {
    pub(super) negative: bool,
    pub(super) size: Duration,
}

/// Parses a sign and decimal numbers with units, at most 292 years; a bare `0` needs no unit.
pub(super) fn duration(text: &str) -> Option<SignedDuration> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let negative = text.starts_with('-');
    if unsigned == "0" {
        return Some(SignedDuration { negative: false, size: Duration::ZERO });
    }
    let mut total: u128 = 0;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let (number, after) = number(rest)?;
        let n_unit = after.find(|at: char| at.is_ascii_digit() || at == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(n_unit);
        let scale: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60 * 1_000_000_000,
            "h" => 3_600 * 1_000_000_000,
            _ => return None,
        };
        total = total.checked_add(number.scaled(scale)?)?;
        rest = after;
    }
    let nanos = i64::try_from(total).ok().filter(|_| !unsigned.is_empty())?;
    let negative = negative && nanos != 0;
    Some(SignedDuration { negative, size: Duration::from_nanos(nanos.unsigned_abs()) })
}

/// Parses a decimal number and a unit, all units being multiples of 1024; no unit means bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = number(text.trim())?;
    let power = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return None,
    };
    u64::try_from(number.scaled(1 << (10 * power))?).ok()
}

/// A decimal number: `digits / 10^n_decimals`.
struct Decimal {
    digits: u128,
    n_decimals: u32,
}

impl Decimal {
    /// Returns the number times `scale`, cut to a whole one.
    fn scaled(&self, scale: u128) -> Option<u128> {
        Some(self.digits.checked_mul(scale)? / 10_u128.checked_pow(self.n_decimals)?)
    }
}

/// Parses the number at the start of `text`; returns the rest, too.
fn number(text: &str) -> Option<(Decimal, &str)> {
    let n_whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, mut rest) = text.split_at(n_whole);
    let mut decimals = "";
    if let Some(after) = rest.strip_prefix('.') {
        let n_decimals = after.bytes().take_while(u8::is_ascii_digit).count();
        (decimals, rest) = after.split_at(n_decimals);
    }
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    // More decimals than a nanosecond of an hour has make no difference.
    let decimals = &decimals[..decimals.len().min(15)];
    let mut digits: u128 = 0;
    for digit in whole.bytes().chain(decimals.bytes()) {
        digits = digits.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    let n_decimals = u32::try_from(decimals.len()).ok()?;
    Some((Decimal { digits, n_decimals }, rest))
}
