//! Counts the ancestors of nodes, by which parents are put before their children.

use std::collections::BTreeMap;

/// Returns for each node of `parents` how many of these nodes are above it. It looks at each node
/// once, however deep the tree is.
pub(super) fn ancestor_counts<K: Copy + Ord>(
    parents: &BTreeMap<K, Option<K>>,
) -> BTreeMap<K, usize> {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    let mut way = Vec::new();
    for node in parents.keys() {
        let mut at = *node;
        // A tree has no cycle; this bound holds for corrupt rows.
        while way.len() <= parents.len() && !counts.contains_key(&at) {
            way.push(at);
            match parents[&at].filter(|it| parents.contains_key(it)) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let first = counts.get(&at).map_or(0, |it| it + 1);
        counts.extend(way.drain(..).rev().zip(first..));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(parents: &[(i64, Option<i64>)]) -> Vec<(i64, usize)> {
        ancestor_counts(&parents.iter().copied().collect()).into_iter().collect()
    }

    #[test]
    fn a_node_has_one_ancestor_more_than_its_parent() {
        let tree =
            [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(2)), (5, Some(9)), (6, Some(5))];
        assert_eq!(counted(&tree), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 0), (6, 1)]);
    }

    #[test]
    fn a_long_chain_is_counted_and_a_cycle_ends() {
        let chain: Vec<_> = (0..200_000).map(|it| (it, (0 < it).then(|| it - 1))).collect();
        assert!(counted(&chain).iter().all(|(node, count)| *node == *count as i64));
        assert_eq!(counted(&[(1, Some(2)), (2, Some(1)), (3, Some(3))]).len(), 3);
    }
}
