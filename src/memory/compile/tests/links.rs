//! Tests for references through compiles: they resolve, wait, follow, and go. After every compile
//! the doctor resolves all of them again and must agree.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::store::reader::Reader;

impl Notes {
    /// Lists references as `a.md: label form [name] -> b.md: label w=2`; a pending one points at
    /// `?`.
    fn references(&self) -> Vec<String> {
        let reader = Reader::open(&self.dir.path().join("memory.db")).unwrap();
        reader.references().unwrap()
    }

    #[track_caller]
    fn refers(&self, expected: Expect) -> &Notes {
        self.compile();
        expected
            .assert_eq(&self.references().iter().map(|it| format!("{it}\n")).collect::<String>());
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
    notes.write("sub/c.md", "# Later");
    notes.refers(expect![[r#"
        a.md: See [[Later]]. wiki [Later] -> sub/c.md: Later
    "#]]);
}

#[test]
fn the_golden_folder_refers_as_it_always_did() {
    let notes = Notes::new();
    let home = "---\ntitle: Home\ntags: [a, b, c, d, e]\n---\n# Home\n\n\
                See [[Setup; w=2]] and [[Later]].\n\n- one\n- two\n";
    let guide = "# Guide\n\n## Setup\n\nRun it. Then stop.\n\n```sh\nmake\n```\n";
    notes.write("README.md", home).write("docs/guide.md", guide).write("vendor/v.md", "# no\n");
    notes.refers(expect![[r#"
        README.md: See [[Setup]] and [[Later]]. wiki [Later] -> ?
        README.md: See [[Setup]] and [[Later]]. wiki [Setup] -> docs/guide.md: Setup w=2.0
    "#]]);
    let guide = guide.replace("Run it. Then stop.", "Run it twice.") + "\n## Later\n";
    notes.write("docs/guide.md", &guide);
    notes.check_compile("1 added, 1 modified, 0 removed (2 ops)");
    notes.refers(expect![[r#"
        README.md: See [[Setup]] and [[Later]]. wiki [Later] -> docs/guide.md: Later
        README.md: See [[Setup]] and [[Later]]. wiki [Setup] -> docs/guide.md: Setup w=2.0
    "#]]);
}

#[test]
fn every_form_becomes_an_edge() {
    let notes = Notes::new();
    notes.write(
        "a.md",
        "# A\n\n[[b#Part two|there]] ![[b]] [x](sub/b.md#part-two) [[ÄRGER]] [[Development]]\n\n\
         [[Second name]] [[Also; w=nan]] [[Also; w=-3]] <knowledge weight=\"3\">Part two</knowledge>\n\n\
         | t |\n|---|\n| [[b|bee]] and [[ärger\\|anger]] |\n\n`[[code]]`\n\n```\n[[code]]\n```\n\n\
         [[Also; w=1e400]] [#](#a) [gone](gone.md) [[b; source=sub/b.md]]",
    );
    notes.write("sub/b.md", "---\naliases: [Second name, Also]\n---\n# Bee\n\n## Part two\n\nx");
    notes.write("c.md", "# ärger\n\n## Development\n");
    notes.write("d.html", "<p>See <knowledge weight=2 source=\"sub/b.md\">Part two</knowledge> and <a href='c.md'>c</a> [[Bee; w=5]]</p><knowledge w=1>Bee</knowledge>");
    notes.write("e.json", "{\"note\": \"see [[Bee; w=4]]\", \"list\": [\"[[Part two]]\"]}");
    notes.write("f.yaml", "note: see [[Bee]]\n");
    notes.write("g.txt", "see [[Bee]]\n");
    notes.refers(expect![[r#"
        a.md: Table: t (1 row) wiki [b] -> sub/b.md: Bee
        a.md: Table: t (1 row) wiki [ärger] -> c.md: ärger
        a.md: [[Also]] # gone [[b]] markdown [#] -> a.md: A
        a.md: [[Also]] # gone [[b]] markdown [gone] -> ?
        a.md: [[Also]] # gone [[b]] wiki [Also] -> sub/b.md: Bee
        a.md: [[Also]] # gone [[b]] wiki [b] -> sub/b.md: Bee
        a.md: [[Second name]] [[Also]] [[Also]] Part two knowledge [Part two] -> sub/b.md: Part two w=3.0
        a.md: [[Second name]] [[Also]] [[Also]] Part two wiki [Also] -> sub/b.md: Bee
        a.md: [[Second name]] [[Also]] [[Also]] Part two wiki [Second name] -> sub/b.md: Bee
        a.md: [[b#Part two|there]] ![[b]] x [[ÄRGER]] [[Development]] embed [b] -> sub/b.md: Bee
        a.md: [[b#Part two|there]] ![[b]] x [[ÄRGER]] [[Development]] markdown [x] -> sub/b.md: Part two
        a.md: [[b#Part two|there]] ![[b]] x [[ÄRGER]] [[Development]] wiki [Development] -> c.md: Development
        a.md: [[b#Part two|there]] ![[b]] x [[ÄRGER]] [[Development]] wiki [b] -> sub/b.md: Part two
        a.md: [[b#Part two|there]] ![[b]] x [[ÄRGER]] [[Development]] wiki [ÄRGER] -> c.md: ärger
        d.html: See [[Part two]] and c [[Bee]] markdown [c] -> c.md: ärger
        d.html: See [[Part two]] and c [[Bee]] wiki [Bee] -> sub/b.md: Bee w=5.0
        d.html: See [[Part two]] and c [[Bee]] wiki [Part two] -> sub/b.md: Part two w=2.0
        d.html: [[Bee]] wiki [Bee] -> sub/b.md: Bee
        e.json: note, list wiki [Bee] -> sub/b.md: Bee w=4.0
        e.json: note, list wiki [Part two] -> sub/b.md: Part two
        f.yaml: note wiki [Bee] -> sub/b.md: Bee
        g.txt: see [[Bee]] wiki [Bee] -> sub/b.md: Bee
    "#]]);
}

#[test]
fn an_edge_follows_its_target_and_leaves_it_when_it_is_another() {
    let notes = Notes::new();
    notes.write("a.md", "# A\n\n[[Setup]] [[two]]").write("b/two.md", &sections(5));
    notes.write("c.md", "# C\n\n## Setup\n\nWords of it.");
    notes.refers(expect![[r#"
        a.md: [[Setup]] [[two]] wiki [Setup] -> c.md: Setup
        a.md: [[Setup]] [[two]] wiki [two] -> b/two.md: Book
    "#]]);
    // A nearer file, a nearer heading.
    notes.write("two.md", "# Other").write("b/x.md", "# X\n\n## Setup");
    notes.refers(expect![[r#"
        a.md: [[Setup]] [[two]] wiki [Setup] -> c.md: Setup
        a.md: [[Setup]] [[two]] wiki [two] -> two.md: Other
    "#]]);
    // The file and the heading are renamed.
    fs::rename(notes.path("two.md"), notes.path("deux.md")).unwrap();
    notes.write("c.md", "# C\n\n## Install\n\nWords of it.");
    notes.refers(expect![[r#"
        a.md: [[Setup]] [[two]] wiki [Setup] -> b/x.md: Setup
        a.md: [[Setup]] [[two]] wiki [two] -> b/two.md: Book
    "#]]);
    notes.write("y.md", "# Y\n\n## Setup");
    notes.remove("b/x.md");
    notes.refers(expect![[r#"
        a.md: [[Setup]] [[two]] wiki [Setup] -> y.md: Setup
        a.md: [[Setup]] [[two]] wiki [two] -> b/two.md: Book
    "#]]);
    // Two equally near candidates: it stays pending, with their number.
    notes.remove("y.md").write("p/x.md", "# X\n\n## Setup").write("q/x.md", "# X\n\n## Setup");
    notes.refers(expect![[r#"
        a.md: [[Setup]] [[two]] wiki [Setup] -> ? of 2
        a.md: [[Setup]] [[two]] wiki [two] -> b/two.md: Book
    "#]]);
}

#[test]
fn no_secret_reaches_a_reference() {
    let notes = Notes::new();
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let text = format!("# A\n\n[[{key}]] [[x; source={key}]] [[y|{key}]] [z]({key}.md)");
    notes.write("a.md", &text).compile();
    assert_eq!(notes.references().len(), 3);
    for file in fs::read_dir(notes.dir.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(path).unwrap();
            assert!(!bytes.windows(key.len()).any(|it| it == key.as_bytes()));
        }
    }
}

#[test]
fn edges_by_hand_survive_recompiles() {
    let notes = Notes::new();
    notes.write("a.md", "# A\n\nFirst.").write("b.md", "# B\n\n## Setup\n\nRun.").compile();
    let (a, setup) = (notes.id("A"), notes.id("Setup"));
    let relate = |name: Option<&str>, id: Option<&str>, weight: f64| {
        let mut reference =
            crate::ingest::parse::link::parse_typed_name(name.unwrap_or("x")).unwrap();
        reference.form = crate::model::links::reference::ReferenceSyntax::Manual;
        reference.label = name.unwrap_or_default().to_owned();
        (reference.id_hint, reference.weight) = (id.map(str::to_owned), weight);
        let relate = |batch: &mut crate::store::Batch<'_>| {
            let source = batch.find_any(&a)?.unwrap().key;
            batch.relate(source, &reference)
        };
        let (edge, commit) = notes.writer.write("", "", UnixMillis(0), relate).unwrap();
        assert_eq!(commit.snapshot, None);
        notes.check_health();
        format!("{edge:?}").replace(&setup, "SETUP")
    };
    assert_eq!(relate(None, Some(&setup), 2.0), "Resolved(\"SETUP\")");
    // One target by another name, and an unknown name, twice.
    assert_eq!(relate(Some("setup"), None, 3.0), "Resolved(\"SETUP\")");
    assert_eq!(relate(Some("Later"), None, 1.0), "Pending([])");
    assert_eq!(relate(Some("LATER"), None, 4.0), "Pending([])");
    // An id means that node only.
    assert_eq!(relate(Some("B"), Some("00000000000"), 1.0), "Pending([])");
    notes.refers(expect![[r#"
        a.md: A manual [B] -> ?
        a.md: A manual [Later] -> ? w=4.0
        a.md: A manual [] -> b.md: Setup w=3.0
    "#]]);
    // Both files are edited, the target's is renamed, then the target is deleted and restored.
    notes.write("a.md", "# A\n\nSecond [[B]].").remove("b.md");
    notes.write("c/b2.md", "# B\n\n## Setup\n\nRun twice.\n\n# Later");
    notes.refers(expect![[r#"
        a.md: A manual [B] -> ?
        a.md: A manual [Later] -> c/b2.md: Later w=4.0
        a.md: A manual [] -> c/b2.md: Setup w=3.0
        a.md: Second [[B]]. wiki [B] -> c/b2.md: B
    "#]]);
    notes.write("c/b2.md", "# B");
    notes.refers(expect![[r#"
        a.md: A manual [B] -> ?
        a.md: A manual [Later] -> ? w=4.0
        a.md: A manual [] -> ? w=3.0
        a.md: Second [[B]]. wiki [B] -> c/b2.md: B
    "#]]);
    notes.write("c/b2.md", "# B\n\n## Setup");
    notes.refers(expect![[r#"
        a.md: A manual [B] -> ?
        a.md: A manual [Later] -> ? w=4.0
        a.md: A manual [] -> c/b2.md: Setup w=3.0
        a.md: Second [[B]]. wiki [B] -> c/b2.md: B
    "#]]);
}

#[test]
fn a_memory_without_references_is_read_once() {
    let notes = Notes::new();
    notes.write("a.md", "# A\n\n[[B]]").write("b.md", "# B").compile();
    let before = notes.references();
    let path = notes.dir.path().join("memory.db");
    crate::store::database_version_testing::forget_references(&path);
    drop(Writer::open(&path, IfMissing::Refuse).unwrap());
    notes.check_health();
    assert_eq!(notes.references(), before);
}

#[test]
fn references_to_one_name_cost_linear_work() {
    let notes = Notes::new();
    for nth in 0..40 {
        notes.write(&format!("{nth}/a.md"), &"[[Setup]] [x](a.md)\n\n# Setup\n\n".repeat(25));
    }
    notes.compile();
    assert_eq!(notes.references().len(), 2_000);
}

/// Small sets, so that names often collide.
const LABELS: [&str; 5] = ["One", "Two", "Three", "ONE", "one two"];
const PATHS: [&str; 5] = ["one.md", "a/two.md", "a/b/one.md", "c/three.md", "c/two.txt"];
const LINKS: [&str; 9] = [
    "[[One]]",
    "[[two; w=3]]",
    "[[three#One]]",
    "[x](../one.md#two)",
    "[x](two.md)",
    "[[Two; source=a/two.md]]",
    "![[one.md]]",
    "[[T]]",
    "`[[One]]`",
];

fn text(seed: &[u8]) -> String {
    let mut text = String::new();
    if seed.first().is_some_and(|it| it % 3 == 0) {
        text += "---\ntitle: T\naliases: [Three]\n---\n";
    }
    for byte in seed {
        let at = usize::from(*byte);
        match at % 3 {
            0 => text += &format!("{} {}\n\n", "#".repeat(1 + at / 3 % 3), LABELS[at / 9 % 5]),
            1 => text += &format!("Paragraph {} {}.\n\n", at / 27, LINKS[at / 3 % 9]),
            _ => text += &format!("- {} {}\n\n", LINKS[at / 3 % 9], LINKS[at / 27 % 9]),
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn references_after_edits_are_those_of_a_fresh_compile(
        edits in proptest::collection::vec(
            (0..PATHS.len(), 0..4_u8, proptest::collection::vec(any::<u8>(), 0..6)), 1..10
        )
    ) {
        let notes = Notes::new();
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        for (at, what, seed) in edits {
            let path = PATHS[at];
            match (what, files.keys().next_back().copied()) {
                (0, Some(last)) => {
                    files.remove(last);
                    notes.remove(last);
                }
                (1, Some(last)) if last != path => {
                    let text = files.remove(last).unwrap_or_default();
                    notes.remove(last).write(path, &text);
                    files.insert(path, text);
                }
                _ => {
                    files.insert(path, text(&seed));
                    notes.write(path, &text(&seed));
                }
            }
            notes.compile();
        }
        let fresh = Notes::new();
        for (path, text) in &files {
            fresh.write(path, text);
        }
        fresh.compile();
        prop_assert_eq!(notes.references(), fresh.references());
    }
}
