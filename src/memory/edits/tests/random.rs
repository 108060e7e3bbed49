//! Random edits of a file, and of an agent that writes to its nodes.

use super::*;

/// A step of a random user. Numbers choose among the existing nodes.
#[derive(Clone, Debug)]
enum Step {
    /// Replaces a block of a file, or deletes it.
    Edit(usize, usize),
    Insert(usize, usize),
    Rename,
    Write(usize, usize),
    Overlay(usize),
    Forget(usize, ForgetChildrenMode),
}

fn step() -> impl Strategy<Value = Step> {
    let modes = prop::sample::select(vec![
        ForgetChildrenMode::Strict,
        ForgetChildrenMode::Cascade,
        ForgetChildrenMode::Reparent,
    ]);
    prop_oneof![
        (0usize..40, 0usize..BLOCKS.len()).prop_map(|(at, to)| Step::Edit(at, to)),
        (0usize..40, 0usize..BLOCKS.len()).prop_map(|(at, to)| Step::Insert(at, to)),
        Just(Step::Rename),
        (0usize..40, 0usize..BLOCKS.len()).prop_map(|(at, to)| Step::Write(at, to)),
        (0usize..40).prop_map(Step::Overlay),
        (0usize..40, modes).prop_map(|(at, mode)| Step::Forget(at, mode)),
    ]
}

const BLOCKS: &[&str] = &[
    "# One",
    "## Two",
    "## Two",
    "### Three",
    "Some words about the first of all things.",
    "Other words, which speak of something else.",
    "same",
    "same",
    "```sh\nmake all\n```",
    "- a point\n- another point",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "",
];

/// Returns a note with a unique last block.
fn note(blocks: &[String]) -> String {
    blocks.join("\n\n") + "\n\nThe last block, which nobody touches.\n"
}

/// A folder whose note is edited, and an agent that writes to its nodes.
struct Play {
    scene: Scene,
    blocks: Vec<String>,
    path: String,
    n_written: usize,
    /// The last block of the note, which the agent replaced.
    last: String,
}

impl Play {
    fn new() -> Play {
        let scene = Scene::new();
        let blocks: Vec<String> = BLOCKS.iter().map(|it| (*it).to_owned()).collect();
        scene.file("a.md", &note(&blocks));
        let last = scene.id("The last block, which nobody touches.");
        scene.write("What the agent knows.", Some(&last));
        scene.memory.write("What it adds.", Some(&last), AppendOrReplaceMode::Append).unwrap();
        scene.file("b.md", "# B\n\nWhat is forgotten.\n");
        scene.memory.forget(&scene.id("What is forgotten."), ForgetChildrenMode::Strict).unwrap();
        Play { scene, blocks, path: "a.md".to_owned(), n_written: 0, last }
    }

    /// Returns the nodes that may be replaced and forgotten.
    fn ids(&self) -> Vec<String> {
        let tree = self.scene.memory.read(query_all).unwrap();
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let others = nodes.filter(|it| {
            let label = it["label"].as_str().unwrap();
            label != "What the agent knows." && label != "What it adds." && label != "B"
        });
        others.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    }

    fn take(&mut self, nth: usize, step: &Step) {
        let memory = &self.scene.memory;
        match step {
            Step::Edit(at, to) if !self.blocks.is_empty() => {
                let at = at % self.blocks.len();
                self.blocks[at] = BLOCKS[*to].to_owned();
            }
            Step::Insert(at, to) => {
                let block = match to % 2 {
                    0 => BLOCKS[*to].to_owned(),
                    _ => format!("Words of paragraph {nth}, which is new."),
                };
                self.blocks.insert(at % (self.blocks.len() + 1), block);
            }
            Step::Rename => {
                let notes = self.scene.dir.path().join("notes");
                let old = notes.join(&self.path);
                self.path = format!("{nth}.md");
                fs::rename(old, notes.join(&self.path)).unwrap();
            }
            Step::Write(at, text) => {
                let ids = self.ids();
                let anchor = ids.get(at % (ids.len() + 1)).map(String::as_str);
                self.n_written += 1;
                let text = format!("{}\n\nNote {}.", BLOCKS[*text], self.n_written);
                memory.write(&text, anchor, AppendOrReplaceMode::Append).unwrap();
            }
            Step::Overlay(at) => {
                if let Some(id) = self.ids().get(*at) {
                    memory.summarize(id, &format!("Summary {nth}"), None).unwrap();
                }
            }
            Step::Forget(at, mode) => {
                // The last block's parents stay, so that it is found.
                if let Some(id) = self.ids().get(*at) {
                    let below = memory.tree(Some(id), Some(100_000)).unwrap().text;
                    let mode = match below.contains("What the agent knows.") {
                        true => ForgetChildrenMode::Reparent,
                        false => *mode,
                    };
                    // Strict may refuse.
                    let _ = memory.forget(id, mode);
                }
            }
            Step::Edit(..) => (),
        }
    }

    #[track_caller]
    fn assert_nothing_is_undone(&self, nth: usize) {
        let scene = &self.scene;
        scene.file(&self.path, &note(&self.blocks));
        scene.assert_healthy();
        let tree = scene.tree();
        assert_eq!(tree.matches("What the agent knows.").count(), 1, "{nth}\n{tree}");
        assert_eq!(tree.matches("What it adds.").count(), 1, "{nth}\n{tree}");
        assert_eq!(scene.find("The last block, which nobody touches."), [""; 0], "{nth}\n{tree}");
        assert_eq!(scene.id("What the agent knows."), self.last);
        assert_eq!(scene.find("What is forgotten."), [""; 0], "{nth}\n{tree}");
        // Compiles again as if all files had changed.
        let conn = rusqlite::Connection::open(scene.db()).unwrap();
        conn.execute("UPDATE file SET content_hash = NULL", []).unwrap();
        let report = scene.compile();
        assert_eq!(report.snapshot, None, "{nth}: {report}\n{tree}\n{}", scene.tree());
        assert_eq!(scene.tree(), tree);
    }
}

fn play(steps: &[Step]) {
    let mut play = Play::new();
    for (nth, step) in steps.iter().enumerate() {
        play.take(nth, step);
        play.assert_nothing_is_undone(nth);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn files_and_agents_never_undo_each_other(steps in prop::collection::vec(step(), 1..12)) {
        play(&steps);
    }
}
