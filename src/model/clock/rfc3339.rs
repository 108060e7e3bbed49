//! Times as people and clients write them: RFC 3339, and days without a time.

use super::UnixMillis;

impl UnixMillis {
    /// Reads a day or a time as ISO 8601 writes it: `2026-01-01`, `2026-01-01T10:00:00Z`, with a
    /// fraction or a zone; without a zone it is UTC. Anything else is `None`, as is a time in a
    /// year that has no four digits in UTC.
    pub(crate) fn parse_rfc3339(text: &str) -> Option<UnixMillis> {
        let (date, rest) = text.split_at_checked(10)?;
        let [year, month, day] = numbers(date, [4, 2, 2], '-')?;
        let days = days_of(year, month, day)?;
        if rest.is_empty() {
            return Some(UnixMillis(days * 86_400_000));
        }
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (time, rest) = rest.split_at_checked(8)?;
        let [hour, minute, second] = numbers(time, [2, 2, 2], ':')?;
        // A leap second counts as the next one.
        if 23 < hour || 59 < minute || 60 < second {
            return None;
        }
        let (millis, zone) = fraction(rest)?;
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset(zone)?;
        let at = UnixMillis(seconds * 1000 + millis);
        let [year, ..] = at.parts();
        (0..=9999).contains(&year).then_some(at)
    }

    /// Reads a day or a time as [`UnixMillis::parse_rfc3339`] does; a day means its last
    /// millisecond.
    pub(crate) fn parse_rfc3339_end(text: &str) -> Option<UnixMillis> {
        let at = UnixMillis::parse_rfc3339(text)?;
        Some(if text.len() == 10 { UnixMillis(at.0 + 86_400_000 - 1) } else { at })
    }

    /// Returns the time to the second as clients of memories see it: `2026-01-01T10:00:00Z`.
    pub(crate) fn to_second(self) -> String {
        UnixMillis(self.0.div_euclid(1000).saturating_mul(1000)).rfc3339()
    }

    /// Returns the month: `2026-01`.
    pub(crate) fn month(self) -> String {
        let [year, month, ..] = self.parts();
        format!("{year:04}-{month:02}")
    }

    /// Returns the day: `2026-01-01`.
    pub(crate) fn day(self) -> String {
        let [year, month, day, ..] = self.parts();
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Reads numbers of so many digits each, with a sign between them.
fn numbers(text: &str, n_digits: [usize; 3], sign: char) -> Option<[i64; 3]> {
    let mut parts = text.split(sign);
    let mut read = |n: usize| -> Option<i64> {
        let part = parts.next()?;
        let is_number = part.len() == n && part.bytes().all(|it| it.is_ascii_digit());
        if is_number { part.parse().ok() } else { None }
    };
    let [a, b, c] = n_digits;
    let numbers = [read(a)?, read(b)?, read(c)?];
    if parts.next().is_none() { Some(numbers) } else { None }
}

/// Returns the days since the Unix epoch of a day that exists.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let [y, m, d, ..] = UnixMillis(days * 86_400_000).parts();
    ([y, m, d] == [year, month, day]).then_some(days)
}

/// Reads a fraction of a second in milliseconds, and returns what follows it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let padded = format!("{digits:0<3}");
    let millis = padded.get(..3).filter(|_| !digits.is_empty())?.parse().ok()?;
    Some((millis, rest))
}

/// Reads a zone as seconds east of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replacen(':', "", 1);
    if digits.len() != 4 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    if 23 < hours || 59 < minutes { None } else { Some(sign * (hours * 3600 + minutes * 60)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, read: &str) {
        let found = UnixMillis::parse_rfc3339(text).map_or("none".to_owned(), UnixMillis::rfc3339);
        assert_eq!(found, read, "{text}");
    }

    #[test]
    fn times_of_any_zone_are_read() {
        check("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z");
        check("2026-01-01", "2026-01-01T00:00:00Z");
        check("2026-01-01 10:00:00.25", "2026-01-01T10:00:00.25Z");
        check("2026-01-01T10:00:00.123456+02:00", "2026-01-01T08:00:00.123Z");
        check("2025-12-31T23:59:59-0030", "2026-01-01T00:29:59Z");
        check("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z");
        check("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z");
    }

    #[test]
    fn a_day_ends_with_its_last_millisecond() {
        let end = |text: &str| UnixMillis::parse_rfc3339_end(text).map(UnixMillis::rfc3339);
        assert_eq!(end("2026-01-01").as_deref(), Some("2026-01-01T23:59:59.999Z"));
        assert_eq!(end("2026-01-01T10:00:00Z").as_deref(), Some("2026-01-01T10:00:00Z"));
        assert_eq!(end("tomorrow"), None);
    }

    #[test]
    fn texts_that_are_no_time_are_refused() {
        for text in [
            "",
            "2026",
            "2026-1-01",
            "2026-02-30",
            "2026-13-01",
            "2026-01-01T",
            "2026-01-01T25:00:00Z",
            "2026-01-01T10:00:00X",
            "2026-01-01T10:00:00.Z",
            "2026-01-01T10:00:00+1",
            "ü026-01-01",
            "2026-01-01T10:00:00+99:00",
            "2026-01-01T10:00",
            "9999-12-31T23:59:60Z",
            "9999-12-31T23:59:59-00:01",
            "0000-01-01T00:00:00+00:01",
        ] {
            check(text, "none");
        }
    }

    #[test]
    fn every_day_is_read_as_it_is_written() {
        for day in (-200_000..200_000).step_by(97) {
            let at = UnixMillis(day * 86_400_000 + 45_296_000);
            assert_eq!(UnixMillis::parse_rfc3339(&at.to_second()), Some(at));
        }
    }
}
