//! Decimal numbers without a sign, reckoned with exactly.

/// Digits that a number is made longer by, at most.
const ZEROS_MAX: i32 = 20;

/// Digits, the last ones of which stand behind the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    n_behind: u32,
}

impl Decimal {
    /// Returns digits with their point moved to the left, or to the right where `n_behind` is
    /// negative; none where they are too many.
    pub(super) fn new(mut digits: i128, mut n_behind: i32) -> Option<Decimal> {
        while 0 < n_behind && digits % 10 == 0 {
            (digits, n_behind) = (digits / 10, n_behind - 1);
        }
        if n_behind <= -ZEROS_MAX {
            return None;
        }
        while n_behind < 0 {
            (digits, n_behind) = (digits.checked_mul(10)?, n_behind + 1);
        }
        Some(Decimal { digits, n_behind: n_behind.unsigned_abs() })
    }

    /// Returns the sum of two numbers; none where it has too many digits.
    pub(super) fn plus(self, other: Decimal) -> Option<Decimal> {
        let n_behind = self.n_behind.max(other.n_behind);
        let digits =
            |it: Decimal| it.digits.checked_mul(10_i128.checked_pow(n_behind - it.n_behind)?);
        let sum = digits(self)?.checked_add(digits(other)?)?;
        Decimal::new(sum, i32::try_from(n_behind).ok()?)
    }

    /// Returns it without zeros that mean nothing, with the sign of a negative one.
    pub(super) fn shown(self, is_negative: bool) -> String {
        let n_behind = self.n_behind as usize;
        let width = n_behind + 1;
        let digits = format!("{:0width$}", self.digits);
        let (whole, fraction) = digits.split_at(digits.len() - n_behind);
        let sign = if is_negative && self.digits != 0 { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    }
}
