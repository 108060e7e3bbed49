//! Random edit scripts: the nodes that must survive each step.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::fuzzing::align::{FuzzChoices, RandomTreeEdit, TrackedDocument};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_for_random_trees(data in prop::collection::vec(any::<u8>(), 0..400)) {
        crate::fuzzing::align::align(&data);
    }

    #[test]
    fn one_step_costs_no_other_node_its_identity(
        data in prop::collection::vec(any::<u8>(), 100..600),
        step in 0..RandomTreeEdit::ALL.len() - 1,
        choices in prop::collection::vec(any::<u8>(), 40),
    ) {
        let mut document = TrackedDocument::grow_with(&mut FuzzChoices::new(&data), false);
        let old = document.clone();
        let step = RandomTreeEdit::ALL[step];
        let about = document.take(step, &mut FuzzChoices::new(&choices));
        assert_survivors(&old, &document, step, about);
    }

    #[test]
    fn a_script_costs_no_unedited_node_its_identity_nor_an_edited_one_in_its_place(
        data in prop::collection::vec(any::<u8>(), 200..600),
        steps in prop::collection::vec(0..RandomTreeEdit::ALL.len() - 1, 1..12),
        choices in prop::collection::vec(any::<u8>(), 200),
    ) {
        let mut document = TrackedDocument::grow_with(&mut FuzzChoices::new(&data), false);
        let old = document.clone();
        let mut choices = FuzzChoices::new(&choices);
        let mut edits = Vec::new();
        for step in steps {
            let step = RandomTreeEdit::ALL[step];
            let about = document.take(step, &mut choices);
            if step == RandomTreeEdit::Edit {
                edits.extend(about);
            }
        }
        assert_survivors_of_a_script(&old, &document, &edits);
    }
}

/// Asserts that after one step every node that is still there keeps its id.
fn assert_survivors(
    old: &TrackedDocument,
    new: &TrackedDocument,
    step: RandomTreeEdit,
    about: Option<usize>,
) {
    let matches = align(&old.side(), &new.side(), &TextHistoryIndex::default());
    let places: HashMap<usize, usize> =
        old.items.iter().enumerate().map(|(at, it)| (it.serial, at)).collect();
    for (at, it) in new.items.iter().enumerate() {
        let is_about = Some(it.serial) == about;
        // Half of a split paragraph is either half; a heading alone in its file has no witness.
        let is_exempt = step == RandomTreeEdit::Split
            || (step == RandomTreeEdit::Rename && !has_witness(new, at));
        if is_about && is_exempt {
            continue;
        }
        let expected = places.get(&it.serial).copied();
        if expected.is_some() || step != RandomTreeEdit::Split {
            assert_eq!(matches[at], expected, "{step:?}: `{}`", it.text);
        }
    }
    if let (RandomTreeEdit::Split, Some(serial)) = (step, about) {
        let was = old.items.iter().position(|it| it.serial == serial);
        assert!(matches.contains(&was), "one half of a split paragraph is the paragraph");
    }
}

/// Returns whether a heading has children, a parent or siblings to be known by.
fn has_witness(document: &TrackedDocument, at: usize) -> bool {
    1 < document.items.len() && (at + 1 < document.end(at) || document.side()[at].parent.is_some())
        || 2 < document.items.len()
}

/// Asserts that unedited nodes survive a script; texts are unique here. So does a node edited once
/// whose parent and both neighbours are unedited and the same as before.
fn assert_survivors_of_a_script(old: &TrackedDocument, new: &TrackedDocument, edits: &[usize]) {
    let matches = align(&old.side(), &new.side(), &TextHistoryIndex::default());
    let places: HashMap<usize, usize> =
        old.items.iter().enumerate().map(|(at, it)| (it.serial, at)).collect();
    let (old_frames, new_frames) = (frames(old), frames(new));
    let is_unedited = |serial: usize| {
        let now = new.items.iter().find(|it| it.serial == serial);
        now.map(|it| &it.text) == places.get(&serial).map(|&at| &old.items[at].text)
    };
    for (at, it) in new.items.iter().enumerate() {
        let Some(&was) = places.get(&it.serial) else { continue };
        let n_edits = edits.iter().filter(|&&serial| serial == it.serial).count();
        let n_changed = changed_words(&old.items[was].text, &it.text);
        // A heading is what it holds, so that losing its section may cost it more than an edit.
        let is_whole = it.node_type != NodeType::Heading || new.end(at) - at == old.end(was) - was;
        let is_in_place = is_whole
            && old_frames[was] == new_frames[at]
            && new_frames[at].into_iter().flatten().all(is_unedited);
        if n_changed == 0 || (n_edits == 1 && n_changed < 30 && is_in_place) {
            assert_eq!(matches[at], Some(was), "\n{old}\n{new}\n{matches:?}");
        }
    }
}

/// Returns for each node the serials of its parent and of the siblings before and after it.
fn frames(document: &TrackedDocument) -> Vec<[Option<usize>; 3]> {
    let side = document.side();
    let serial = |at: usize| document.items[at].serial;
    (0..side.len())
        .map(|at| {
            let mut siblings = (0..side.len()).filter(|&it| side[it].parent == side[at].parent);
            let before = siblings.by_ref().take_while(|&it| it != at).last();
            [side[at].parent, before, siblings.next()].map(|it| it.map(serial))
        })
        .collect()
}

/// Returns the percentage of words that differ; 100 when their number does.
fn changed_words(old: &str, new: &str) -> usize {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    if old.len() != new.len() {
        return 100;
    }
    old.iter().zip(&new).filter(|(a, b)| a != b).count() * 100 / old.len()
}
