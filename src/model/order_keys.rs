//! Order keys: sparse positions of siblings, so that an insertion writes one row.

/// Distance between neighbours when there is room enough.
pub(crate) const STEP: i64 = 1 << 16;

/// The order key of a sibling, and how it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AssignedOrderKey {
    pub(crate) position: i64,
    pub(crate) change: KeptMovedOrRenumbered,
}

/// The change of a sibling's order key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptMovedOrRenumbered {
    /// It keeps its key.
    Kept,
    /// Its place among its siblings is new.
    Moved,
    /// The order is unchanged; only the number is new, to make room.
    Renumbered,
}

/// Assigns order keys to siblings in the order wanted, given the keys that some have.
///
/// As many as possible keep theirs (a longest increasing subsequence); the others get keys in the
/// gaps. Where a gap is too narrow, all are renumbered.
pub(crate) fn assign_order_keys(existing: &[Option<i64>]) -> Vec<AssignedOrderKey> {
    let kept = longest_increasing(existing);
    spread(existing, &kept).unwrap_or_else(|| renumber(&kept))
}

fn spread(existing: &[Option<i64>], kept: &[bool]) -> Option<Vec<AssignedOrderKey>> {
    let mut ranks = Vec::with_capacity(existing.len());
    let mut at = 0;
    let mut below: Option<i64> = None;
    while at < existing.len() {
        if kept[at] {
            let position = existing[at]?;
            ranks.push(AssignedOrderKey { position, change: KeptMovedOrRenumbered::Kept });
            below = Some(position);
            at += 1;
            continue;
        }
        let run = kept[at..].iter().take_while(|&&it| !it).count();
        let above = existing.get(at + run).copied().flatten();
        let n = i64::try_from(run).ok()?;
        let (first, step) = match (below, above) {
            (None, None) => (STEP, STEP),
            (Some(below), None) => (below.checked_add(STEP)?, STEP),
            (None, Some(above)) => (above.checked_sub(n.checked_mul(STEP)?)?, STEP),
            (Some(below), Some(above)) => {
                let step = above.checked_sub(below)? / (n + 1);
                if step == 0 {
                    return None;
                }
                (below + step, step)
            }
        };
        for nth in 0..n {
            let position = first.checked_add(nth.checked_mul(step)?)?;
            ranks.push(AssignedOrderKey { position, change: KeptMovedOrRenumbered::Moved });
        }
        below = ranks.last().map(|it| it.position);
        at += run;
    }
    Some(ranks)
}

fn renumber(kept: &[bool]) -> Vec<AssignedOrderKey> {
    let change = |kept: bool| {
        if kept { KeptMovedOrRenumbered::Renumbered } else { KeptMovedOrRenumbered::Moved }
    };
    (1..)
        .zip(kept)
        .map(|(nth, &it)| AssignedOrderKey { position: nth * STEP, change: change(it) })
        .collect()
}

/// Marks the elements of a longest increasing subsequence (patience sorting, O(n log n)).
fn longest_increasing(values: &[Option<i64>]) -> Vec<bool> {
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; values.len()];
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let pile = tails.partition_point(|&tail| values[tail] < Some(*value));
        previous[at] = pile.checked_sub(1).map(|it| tails[it]);
        match tails.get_mut(pile) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut kept = vec![false; values.len()];
    let mut next = tails.last().copied();
    while let Some(at) = next {
        kept[at] = true;
        next = previous[at];
    }
    kept
}

#[cfg(test)]
mod tests;
