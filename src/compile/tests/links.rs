//! References through the compile: they resolve, wait, follow, and go.

use expect_test::{Expect, expect};

use super::Notes;
use crate::store::reader::Reader;

impl Notes {
    /// `a.md: label -> b.md: label w=2`, a reference a line; one that waits points at `?`.
    fn references(&self) -> Vec<String> {
        let reader = Reader::open(&self.dir.path().join("memory.db")).unwrap();
        reader.references().unwrap()
    }

    #[track_caller]
    fn refers(&self, expected: Expect) -> &Notes {
        self.compile();
        expected.assert_eq(&(self.references().join("\n") + "\n"));
        self
    }
}

#[test]
fn a_link_waits_for_its_target_and_finds_it() {
    let notes = Notes::new();
    notes.write("a.md", "# A\n\nSee [[Setup; w=2]] and [[Later]].");
    notes.refers(expect![[r#"
        a.md: See [[Setup]] and [[Later]]. wiki [Later] -> ?
        a.md: See [[Setup]] and [[Later]]. wiki [Setup] -> ? w=2.0
    "#]]);
    notes.write("docs/b.md", "# B\n\n## Setup\n\nRun.");
    notes.refers(expect![[r#"
        a.md: See [[Setup]] and [[Later]]. wiki [Later] -> ?
        a.md: See [[Setup]] and [[Later]]. wiki [Setup] -> docs/b.md: Setup w=2.0
    "#]]);
    notes.write("c.md", "# Later");
    notes.refers(expect![[r#"
        a.md: See [[Setup]] and [[Later]]. wiki [Later] -> c.md: Later
        a.md: See [[Setup]] and [[Later]]. wiki [Setup] -> docs/b.md: Setup w=2.0
    "#]]);
    notes.write("a.md", "# A\n\nSee [[Later]].");
    notes.refers(expect![[r#"
        a.md: See [[Later]]. wiki [Later] -> c.md: Later
    "#]]);
    notes.remove("docs/b.md").remove("c.md");
    notes.refers(expect![[r#"
        a.md: See [[Later]]. wiki [Later] -> ?
    "#]]);
}
