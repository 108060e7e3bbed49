//! Renamed files, and nodes that moved between files.

use super::*;

fn hashes(text: &str) -> Vec<ContentHash> {
    text.split_whitespace().map(ContentHash::of).collect()
}

#[track_caller]
fn check_renames(removed: &[&str], added: &[&str], expected: Expect) {
    let removed_hashes: Vec<_> = removed.iter().map(|it| hashes(it)).collect();
    let added_hashes: Vec<_> = added.iter().map(|it| hashes(it)).collect();
    let removed_refs: Vec<&[ContentHash]> = removed_hashes.iter().map(Vec::as_slice).collect();
    let added_refs: Vec<&[ContentHash]> = added_hashes.iter().map(Vec::as_slice).collect();
    let mut out = String::new();
    for (from, to) in renames(&removed_refs, &added_refs) {
        writeln!(out, "{} -> {}", removed[from], added[to]).unwrap();
    }
    expected.assert_eq(&out);
}

#[test]
fn a_renamed_file_is_found_by_its_content() {
    check_renames(
        &["a b c", "x y z", "gone for good"],
        &["new", "x y z2", "a b c"],
        expect![[r#"
            a b c -> a b c
            x y z -> x y z2
        "#]],
    );
}

#[test]
fn a_rename_needs_more_than_half_of_the_hashes() {
    check_renames(
        &["a b c d"],
        &["a b c y"],
        expect![[r#"
        a b c d -> a b c y
    "#]],
    );
    check_renames(&["a b c d"], &["a b x y"], expect![[r#""#]]);
    check_renames(&["Notes a"], &["Notes b"], expect![[r#""#]]);
}

#[test]
fn the_most_alike_file_is_the_renamed_one() {
    check_renames(
        &["a b c d"],
        &["a b c x", "a b c d e", "a b"],
        expect![[r#"
        a b c d -> a b c d e
    "#]],
    );
}

#[test]
fn equal_files_are_paired_in_order() {
    check_renames(
        &["a b", "b a", "a b"],
        &["a b", "b a"],
        expect![[r#"
        a b -> a b
        b a -> b a
    "#]],
    );
}

#[test]
fn files_without_nodes_are_never_renames() {
    check_renames(&["", ""], &["", "a"], expect![[r#""#]]);
}

#[test]
fn a_thousand_files_of_one_template_stay_distinct() {
    let removed: Vec<_> = (0..1000).map(|at| hashes(&format!("a b c d title{at}"))).collect();
    let added: Vec<_> = (0..1000).rev().map(|at| hashes(&format!("a b c e title{at}"))).collect();
    let removed: Vec<&[ContentHash]> = removed.iter().map(Vec::as_slice).collect();
    let added: Vec<&[ContentHash]> = added.iter().map(Vec::as_slice).collect();
    let expected: Vec<_> = (0..1000).map(|at| (at, 999 - at)).collect();
    assert_eq!(renames(&removed, &added), expected);
}

fn loose(node_type: NodeType, text: &str) -> UnmatchedNode {
    UnmatchedNode { node_type, hash: ContentHash::of(text), size_bytes: text.len() }
}

#[test]
fn only_large_nodes_move_between_files() {
    let long = "a paragraph that is long enough to be no accident";
    let other = "another paragraph, long enough to be no accident";
    let old = [
        loose(NodeType::Text, "TODO"),
        loose(NodeType::Text, long),
        loose(NodeType::Text, long),
        loose(NodeType::Code, other),
    ];
    let new = [
        loose(NodeType::Text, other),
        loose(NodeType::Text, long),
        loose(NodeType::Text, "TODO"),
        loose(NodeType::Code, other),
    ];
    assert_eq!(moves(&old, &new), [(1, 1), (3, 3)]);
    let below_short_words = UnmatchedNode { size_bytes: 4, ..old[1] };
    assert_eq!(moves(&[below_short_words], &new), [(0, 1)]);
}
