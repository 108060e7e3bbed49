use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(old: &str, new: &str, hunks: Expect) {
    hunks.assert_eq(&super::unified_hunks(old, new));
}

#[test]
fn a_replaced_line_is_one_hunk() {
    check(
        "alpha one",
        "beta two",
        expect![[r"
            @@ -1 +1 @@
            -alpha one
            \ No newline at end of file
            +beta two
            \ No newline at end of file
        "]],
    );
}

#[test]
fn three_lines_stand_around_a_change() {
    check(
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n",
        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n14\n",
        expect![[r"
            @@ -2,7 +2,7 @@
             2
             3
             4
            -5
            +five
             6
             7
             8
            @@ -10,5 +10,4 @@
             10
             11
             12
            -13
             14
        "]],
    );
}

#[test]
fn equal_texts_have_no_hunks() {
    check("", "", expect![""]);
    check("a\nb", "a\nb", expect![""]);
}

/// Applies the hunks, as `patch` would.
fn patched(old: &str, hunks: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut out, mut at) = (String::new(), 0);
    for line in hunks.split_inclusive('\n') {
        match line.as_bytes()[0] {
            b'@' => {
                let from = line[4..].split([',', ' ']).next().unwrap();
                let is_empty = line[4..].starts_with(&format!("{from},0 "));
                let start = from.parse::<usize>().unwrap() - usize::from(!is_empty);
                old[at..start].iter().for_each(|it| out.push_str(it));
                at = start;
            }
            b'\\' => drop(out.ends_with('\n').then(|| out.pop())),
            b'-' => at += 1,
            b'+' => out.push_str(&line[1..]),
            _ => {
                out.push_str(old[at]);
                at += 1;
            }
        }
    }
    old[at..].iter().for_each(|it| out.push_str(it));
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn hunks_lead_from_the_old_text_to_the_new(
        old in prop::collection::vec(0..6u8, 0..40),
        new in prop::collection::vec(0..6u8, 0..40),
    ) {
        let text = |lines: &[u8]| -> String {
            lines.iter().map(|it| format!("{it}\n")).collect()
        };
        let (old, new) = (text(&old), text(&new));
        prop_assert_eq!(patched(&old, &unified_hunks(&old, &new)), new);
    }
}
