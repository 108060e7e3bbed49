use proptest::prelude::*;

use super::*;

fn positions(existing: &[Option<i64>]) -> Vec<i64> {
    assign_order_keys(existing).into_iter().map(|it| it.position).collect()
}

#[test]
fn an_insertion_touches_one_row() {
    let ranks = assign_order_keys(&[Some(10), None, Some(20), Some(30)]);
    let n_kept = ranks.iter().filter(|it| it.change == KeptMovedOrRenumbered::Kept).count();
    assert_eq!((n_kept, ranks[1].position), (3, 15));
}

#[test]
fn a_move_touches_one_row() {
    let ranks = assign_order_keys(&[Some(40), Some(10), Some(20), Some(30)]);
    assert_eq!(ranks.iter().filter(|it| it.change == KeptMovedOrRenumbered::Moved).count(), 1);
}

#[test]
fn a_full_gap_renumbers_without_a_move() {
    let ranks = assign_order_keys(&[Some(1), None, Some(2)]);
    let changes: Vec<KeptMovedOrRenumbered> = ranks.iter().map(|it| it.change).collect();
    use KeptMovedOrRenumbered::{Moved, Renumbered};
    assert_eq!(changes, [Renumbered, Moved, Renumbered]);
}

#[test]
fn order_keys_at_the_ends_of_the_range_are_renumbered() {
    assert_eq!(positions(&[Some(i64::MAX), None]), [STEP, 2 * STEP]);
    assert_eq!(positions(&[None, Some(i64::MIN)]), [STEP, 2 * STEP]);
}

proptest! {
    #[test]
    fn order_keys_always_ascend(existing in prop::collection::vec(
        prop::option::of(prop_oneof![-5i64..50, any::<i64>()]), 0..40,
    )) {
        let ranks = assign_order_keys(&existing);
        prop_assert_eq!(ranks.len(), existing.len());
        prop_assert!(ranks.windows(2).all(|pair| pair[0].position < pair[1].position));
        for (rank, old) in ranks.iter().zip(&existing) {
            if rank.change == KeptMovedOrRenumbered::Kept {
                prop_assert_eq!(Some(rank.position), *old);
            }
        }
    }
}
