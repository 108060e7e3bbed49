use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::fuzzing::entries::parse_entries;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;
use crate::store::StoreError;
use crate::store::reader::ArchivedVisibility;

mod random;

/// A temporary memory with a folder of notes.
struct Scene {
    dir: tempfile::TempDir,
    memory: Memory,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        // A time far in the future, so that every file's time is old enough to be trusted.
        let clock = Clock::manual(UnixMillis(4_000_000_000_000));
        let path = dir.path().join("memory.db");
        let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap().with_structured();
        Scene { dir, memory }
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    /// Writes a note and compiles all of them.
    fn file(&self, path: &str, text: &str) -> &Scene {
        fs::write(self.dir.path().join("notes").join(path), text).unwrap();
        self.compile();
        self
    }

    fn compile(&self) -> compile::Report {
        self.memory.compile(&self.dir.path().join("notes"), "test").unwrap()
    }

    fn write(&self, payload: &str, anchor: Option<&str>) -> Answer {
        self.memory.write(payload, anchor, AppendOrReplaceMode::Auto).unwrap()
    }

    /// Returns the id of the one node with this label.
    #[track_caller]
    fn id(&self, label: &str) -> String {
        let found = self.find(label);
        assert_eq!(found.len(), 1, "nodes labelled `{label}`:\n{}", self.tree());
        found[0].clone()
    }

    fn find(&self, label: &str) -> Vec<String> {
        let tree = self.memory.read(query_all).unwrap();
        let nodes = tree["nodes"].as_array().unwrap();
        let named = nodes.iter().filter(|it| it["label"] == label);
        named.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the outline, without ids and temperatures.
    fn tree(&self) -> String {
        let tree = self.memory.read(query_all).unwrap();
        let mut out = String::new();
        for node in tree["nodes"].as_array().unwrap() {
            let depth = node["depth"].as_u64().unwrap() as usize;
            let [kind, label] = ["type", "label"].map(|it| node[it].as_str().unwrap());
            out += &format!("{}[{kind}] {label}\n", "  ".repeat(depth));
        }
        out
    }

    #[track_caller]
    fn check_outline(&self, outline: Expect) -> &Scene {
        self.assert_healthy();
        outline.assert_eq(&self.tree());
        self
    }

    /// Returns a node's text.
    fn text(&self, id: &str) -> String {
        let answer = self.memory.fetch(id, None).unwrap();
        let entry = parse_entries(&answer.text).pop().unwrap();
        entry.text.trim_end_matches('\n').to_owned()
    }

    fn heat(&self, id: &str) -> (f64, bool) {
        let (heat, attended) = self
            .memory
            .read::<_, StoreError>(|it| Ok((it.head(id)?.unwrap().heat, it.attended()?)))
            .unwrap();
        (heat.now(attended), heat.pinned)
    }

    /// Advances the attended time by hours.
    fn wait_hours(&self, n: i64) {
        let conn = rusqlite::Connection::open(self.db()).unwrap();
        conn.execute("UPDATE memory SET attended = attended + ?1", [n * 3_600_000]).unwrap();
    }

    fn snapshots(&self) -> Vec<(String, String)> {
        let conn = rusqlite::Connection::open(self.db()).unwrap();
        let mut query =
            conn.prepare("SELECT message, cursor_hash FROM snapshot ORDER BY id").unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[track_caller]
    fn assert_healthy(&self) {
        let report = doctor::examine(&self.db()).unwrap();
        let bad: Vec<_> =
            report.checks.iter().filter(|it| it.status == CheckStatus::Fail).collect();
        assert!(bad.is_empty(), "{bad:#?}\n{}", self.tree());
    }

    #[track_caller]
    fn assert_refused(&self, outcome: Result<Answer, Error>, why: Expect) {
        let n_before = self.snapshots().len();
        why.assert_eq(&(outcome.unwrap_err().to_string() + "\n"));
        assert_eq!(self.snapshots().len(), n_before);
    }
}

fn query_all(reader: &crate::store::reader::Reader) -> Result<Value, query::Error> {
    let ask = query::Query::Tree(query::TreeQuery {
        root: None,
        levels: 128,
        archived: ArchivedVisibility::Shown,
    });
    let (budget, output) = (Some(1_000_000), query::OutputFormat::Structured);
    let options =
        query::QueryOptions { budget, output, ..query::QueryOptions::text(UnixMillis(0)) };
    query::answer(reader, &ask, &options).map(|it| it.structured)
}

/// Returns the reply with placeholders for ids and numbers of snapshots.
fn shown(answer: &Answer) -> String {
    let ids: Vec<&str> = answer.structured["nodes"]
        .as_array()
        .map(|it| it.iter().map(|it| it["id"].as_str().unwrap()).collect())
        .unwrap_or_else(|| vec![answer.structured["node_id"].as_str().unwrap()]);
    let mut text = answer.text.clone();
    for (nth, id) in ids.into_iter().enumerate() {
        text = text.replace(id, &format!("ID{nth}"));
    }
    text + "\n"
}

#[test]
fn markdown_becomes_a_subtree() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\nBy hand.\n");
    let answer = scene.write("## Roll back\n\n- undo\n- tell\n\nSee [[Deploy]].", None);
    expect![[r#"
        wrote node ID0 (11 tokens)
        [heading] Roll back (id=ID0)
          [list] 2-item list: undo (id=ID1)
          [text] See [[Deploy]]. (id=ID2)
    "#]]
    .assert_eq(&shown(&answer));
    let deploy = scene.id("Deploy");
    let answer = scene.write("Use make.", Some(&deploy));
    expect![[r#"
        wrote node ID0 (3 tokens)
    "#]]
    .assert_eq(&shown(&answer));
    scene.check_outline(expect![[r#"
        [heading] Deploy
          [text] By hand.
          [text] Use make.
        [heading] Roll back
          [list] 2-item list: undo
          [text] See [[Deploy]].
    "#]]);
    assert!(scene.memory.search("make", None).unwrap().text.contains("Use make."));
}

#[test]
fn a_b_a_is_three_snapshots_and_the_first_state_again() {
    let scene = Scene::new();
    let id = scene.write("Alpha.", None).structured["node_id"].as_str().unwrap().to_owned();
    scene.write("Beta.\n\nAnd more.", Some(&id));
    assert_eq!(scene.text(&id), "Beta.\n\nAnd more.");
    scene.write("Alpha.", Some(&id));
    let snapshots = scene.snapshots();
    let message = format!("write:{id}");
    assert!(snapshots.iter().all(|it| it.0 == message), "{snapshots:?}");
    assert_eq!(snapshots.len(), 3);
    assert_eq!(snapshots[0].1, snapshots[2].1);
    assert_ne!(snapshots[0].1, snapshots[1].1);
    scene.assert_healthy();
}

#[test]
fn the_same_write_again_changes_nothing() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\nBy hand.\n");
    let deploy = scene.id("Deploy");
    let text = "## One\n\nwords\n\n## Two\n\n- a\n- b\n";
    for anchor in [None, Some(deploy.as_str())] {
        let first = scene.write(text, anchor);
        let n_snapshots = scene.snapshots().len();
        let again = scene.write(text, anchor);
        assert_eq!(again.text, first.text);
        assert_eq!(again.structured["snapshot"], Value::Null);
        assert_eq!(scene.snapshots().len(), n_snapshots);
    }
    assert_eq!(scene.find("One").len(), 2);
}

#[test]
fn a_write_is_known_again_where_an_equal_one_was_forgotten() {
    let scene = Scene::new();
    let other = scene.write("# Other\n", None).structured["node_id"].as_str().unwrap().to_owned();
    let first = scene.write("ok", None).structured["node_id"].as_str().unwrap().to_owned();
    let second = scene.write("ok", Some(&other));
    scene.memory.forget(&first, ForgetChildrenMode::Strict).unwrap();
    let again = scene.write("ok", Some(&other));
    assert_eq!(again.text, second.text);
    assert_eq!(again.structured["snapshot"], Value::Null);
}

#[test]
fn forgotten_and_written_again_is_the_same_node() {
    let scene = Scene::new();
    let first = scene.write("Alpha.", None);
    let id = first.structured["node_id"].as_str().unwrap();
    scene.memory.forget(id, ForgetChildrenMode::Strict).unwrap();
    let again = scene.write("Alpha.", None);
    assert_eq!(again.text, first.text);
    assert_eq!(again.structured["snapshot"], 3);
    assert_eq!(scene.snapshots()[0].1, scene.snapshots()[2].1);
}

#[test]
fn a_compiled_text_is_replaced_until_its_block_changes() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\nBy hand.\n\nSlowly.\n");
    let id = scene.id("By hand.");
    scene.write("By robot.", Some(&id));
    scene.file("a.md", "# Deploy\n\nBy hand.\n\nQuickly.\n");
    assert_eq!(scene.text(&id), "By robot.");
    scene.file("a.md", "# Deploy\n\nBy two hands.\n\nQuickly.\n");
    assert_eq!(scene.text(&id), "By two hands.");
    scene.assert_healthy();
}

#[test]
fn a_mode_overrides_the_default() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\n```sh\nmake\n```\n");
    let (heading, code) = (scene.id("Deploy"), scene.id("Code (sh): make"));
    scene.memory.write("# Ship", Some(&heading), AppendOrReplaceMode::Replace).unwrap();
    scene.memory.write("```sh\nmake all\n```", Some(&code), AppendOrReplaceMode::Auto).unwrap();
    scene.memory.write("It takes long.", Some(&code), AppendOrReplaceMode::Append).unwrap();
    assert_eq!(scene.text(&code), "make all");
    scene.check_outline(expect![[r#"
        [heading] Ship
          [code] Code (sh): make all
            [text] It takes long.
    "#]]);
    scene.assert_refused(
        scene.memory.write("One.\n\nTwo.", Some(&heading), AppendOrReplaceMode::Replace),
        expect![[r#"
            a heading is one line; write below it with mode `append`
        "#]],
    );
}

#[test]
fn a_senseless_edit_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\nBy hand.\n");
    let id = scene.id("Deploy");
    let typo = format!("{}!!!!", &id[..7]);
    let memory = &scene.memory;
    let error = memory.write("x", Some(&typo), AppendOrReplaceMode::Auto).unwrap_err().to_string();
    assert_eq!(error, format!("no node `{typo}`; nearest: `{id}` Deploy"));
    scene.assert_refused(
        memory.write(" \n\t", None, AppendOrReplaceMode::Auto),
        expect![[r#"
            `payload` is blank; say something
        "#]],
    );
    scene.assert_refused(
        memory.write("x", None, AppendOrReplaceMode::Replace),
        expect![[r#"
            without an `anchor` there is nothing to replace; name one
        "#]],
    );
    scene.assert_refused(
        memory.write(&"x ".repeat(600_000), None, AppendOrReplaceMode::Auto),
        expect![[r#"
            `payload` has 1200000 bytes, and 1048576 are the most for one call; write it in parts, or compile a file
        "#]],
    );
    scene.assert_refused(
        memory.write(&"x\n\n".repeat(20_001), None, AppendOrReplaceMode::Auto),
        expect![[r#"
            `payload` has 20001 headings, paragraphs and other nodes, and 20000 are the most for one call; write it in parts, or compile a file
        "#]],
    );
    scene.assert_refused(
        memory.summarize(&id, "s", Some(f64::NAN)),
        expect![[r#"
            `temperature` must be between 0 and 1, not NaN
        "#]],
    );
    let error = memory.forget(&id, ForgetChildrenMode::Strict).unwrap_err().to_string();
    let why =
        "has 1 child; mode `cascade` forgets what is below it, too, and `reparent` keeps that";
    assert_eq!(error, format!("node `{id}` {why}"));
}

#[test]
fn a_temperature_of_0_is_one_like_others() {
    let scene = Scene::new();
    let id = scene.write("It is cold.", None).structured["node_id"].as_str().unwrap().to_owned();
    let check = || doctor::assert_healthy(&scene.db());
    scene.memory.summarize(&id, "Cold.", Some(0.0)).unwrap();
    check();
    scene.memory.pin(&id, Some(0.0)).unwrap();
    check();
    scene.memory.unpin(&id).unwrap();
    check();
    scene.memory.summarize(&id, "Cold!", Some(f64::MIN_POSITIVE)).unwrap();
    check();
}

#[test]
fn no_secret_comes_in_through_a_tool() {
    let scene = Scene::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let answer = scene.write(&format!("Use {token} and [[{token}]]."), None);
    let id = answer.structured["node_id"].as_str().unwrap().to_owned();
    scene.write(&format!("Now\n\nuse `{token}`."), Some(&id));
    scene.memory.summarize(&id, &format!("It is {token}"), None).unwrap();
    for file in ["memory.db", "memory.db-wal"] {
        let bytes = fs::read(scene.dir.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|it| it == token.as_bytes()), "{file}");
    }
    assert!(scene.text(&id).starts_with("It is "));
}

#[test]
fn text_that_parses_to_nothing_is_kept_as_it_is() {
    let scene = Scene::new();
    let answer = scene.write("[home]: https://example.org/a", None);
    let id = answer.structured["node_id"].as_str().unwrap().to_owned();
    assert!(scene.text(&id).contains("example.org"), "{}", scene.text(&id));
}

#[test]
fn a_summary_warms_even_if_it_says_the_same() {
    let scene = Scene::new();
    scene.file("a.md", "# Deploy\n\nBy hand, which takes quite a while and two people.\n");
    let id = scene.id("By hand, which takes quite a while and two people.");
    scene.wait_hours(100);
    let answer = scene.memory.summarize(&id, "By hand.", None).unwrap();
    assert_eq!(answer.text, format!("summarized node {id} (12 → 3 tokens)"));
    assert_eq!(scene.heat(&id), (0.5, false));
    scene.wait_hours(100);
    let again = scene.memory.summarize(&id, "By hand.", Some(0.9)).unwrap();
    assert_eq!((&again.structured["snapshot"], scene.heat(&id).0), (&Value::Null, 0.9));
    assert_eq!(scene.snapshots().last().unwrap().0, format!("summarize:{id}"));
    scene.file("a.md", &fs::read_to_string(scene.dir.path().join("notes/a.md")).unwrap());
    scene.file("a.md", "# Deploy\n\nNew.\n\nBy hand, which takes quite a while and two people.\n");
    scene.check_outline(expect![[r#"
        [heading] Deploy
          [text] New.
          [text] Summary: By hand.
    "#]]);
}

#[test]
fn children_take_the_place_of_what_is_forgotten() {
    let scene = Scene::new();
    scene.file("a.md", "# A\n\none\n\n## B\n\ntwo\n\nthree\n\n## C\n\nfour\n");
    let id = scene.id("B");
    let answer = scene.memory.forget(&id, ForgetChildrenMode::Reparent).unwrap();
    assert_eq!(answer.text, format!("forgot node {id} (mode=reparent, 3 affected)"));
    scene.check_outline(expect![[r#"
        [heading] A
          [text] one
          [text] two
          [text] three
          [heading] C
            [text] four
    "#]]);
    scene.file("a.md", "# A\n\none\n\n## B\n\ntwo\n\nthree\n\n## C\n\nfive\n");
    let conn = rusqlite::Connection::open(scene.db()).unwrap();
    let n_ops: i64 = conn
        .query_row("SELECT count(*) FROM diff WHERE snapshot = 3", [], |row| row.get(0))
        .unwrap();
    assert_eq!(n_ops, 2, "the rest stays where it is");
    scene.memory.forget(&scene.id("A"), ForgetChildrenMode::Cascade).unwrap();
    scene.check_outline(expect![[""]]);
    assert_eq!(scene.snapshots().last().unwrap().0.split(':').nth(1), Some("cascade"));
}

#[test]
fn a_pinned_node_stands_still() {
    let scene = Scene::new();
    let id = scene.write("Alpha.", None).structured["node_id"].as_str().unwrap().to_owned();
    scene.wait_hours(10);
    let before = scene.heat(&id).0;
    assert_eq!(scene.memory.pin(&id, None).unwrap().text, format!("pinned node {id}"));
    scene.wait_hours(10);
    assert_eq!(scene.heat(&id), (before, true));
    let answer = scene.memory.pin(&id, Some(0.9)).unwrap();
    assert_eq!(answer.text, format!("pinned node {id} at temperature 0.9"));
    scene.wait_hours(10);
    assert_eq!(scene.memory.unpin(&id).unwrap().text, format!("unpinned node {id}"));
    assert_eq!(scene.heat(&id), (0.9, false));
    scene.wait_hours(10);
    assert!(scene.heat(&id).0 < 0.9);
    assert_eq!(scene.snapshots().len(), 1);
}
