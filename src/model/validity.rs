//! Validity: the time in which a statement holds, from its beginning up to its end.

use super::clock::UnixMillis;

/// Bounds the time in which a statement holds; its end is the first moment without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) from: Option<UnixMillis>,
    pub(crate) to: Option<UnixMillis>,
}

impl Validity {
    /// Returns whether it has begun at a time.
    pub(crate) fn is_begun(self, at: UnixMillis) -> bool {
        self.from.is_none_or(|it| it <= at)
    }

    /// Returns whether it has ended at a time.
    pub(crate) fn is_over(self, at: UnixMillis) -> bool {
        self.to.is_some_and(|it| it <= at)
    }

    /// Returns whether it ends before it begins, as that of a statement that never held.
    pub(crate) fn is_empty(self) -> bool {
        self.to.is_some_and(|to| self.from.is_some_and(|from| to <= from))
    }

    /// Returns whether there is a time in both.
    pub(crate) fn overlaps(self, other: Validity) -> bool {
        let both = Validity {
            from: self.from.max(other.from),
            to: [self.to, other.to].into_iter().flatten().min(),
        };
        !both.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validity(from: i64, to: Option<i64>) -> Validity {
        Validity { from: Some(UnixMillis(from)), to: to.map(UnixMillis) }
    }

    #[test]
    fn what_ends_when_another_begins_does_not_overlap_it() {
        assert!(!validity(1, Some(5)).overlaps(validity(5, None)));
        assert!(validity(1, Some(6)).overlaps(validity(5, None)));
        assert!(validity(1, None).overlaps(Validity::default()));
        assert!(!validity(5, Some(5)).overlaps(validity(1, None)), "it never held");
    }
}
