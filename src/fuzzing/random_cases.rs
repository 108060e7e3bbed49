//! Random cases of tests, the same on each run.

/// A random number generator with a fixed seed: `SplitMix64` (Steele, Lea and Flood 2014).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns a number below `n`; 0 for 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of some items, of which there is at least one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns a copy of one of some items; `None` of none.
    pub(crate) fn pick_if_any<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| self.pick(items).clone())
    }
}

/// Returns how many cases a test tries: `n`, or `REMINDB_MODEL_TIMES` as many, as `make model`
/// does.
pub(crate) fn n_cases(n: u32) -> u32 {
    n * env_number("REMINDB_MODEL_TIMES").unwrap_or(1)
}

/// Returns the number that a variable of the environment sets for a test.
pub(crate) fn env_number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
