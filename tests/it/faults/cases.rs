//! The commands that write, each with the memory that it starts from.

use std::fs;
use std::path::Path;

use super::command::Place;

/// What a command that fails may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// All of its effect or none.
    AtOnce,
    /// Whole steps of it, each of which is sound.
    InSteps,
}

/// A command and its start.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Makes the files of the start, and returns the arguments.
    pub(crate) prepare: fn(&Place<'_>) -> Vec<String>,
    pub(crate) effect: Effect,
    /// Beginnings of the names of databases that need not be sound.
    pub(crate) unsound: &'static [&'static str],
}

/// A command whose effect is all or none.
const fn at_once(name: &'static str, prepare: fn(&Place<'_>) -> Vec<String>) -> Case {
    Case { name, prepare, effect: Effect::AtOnce, unsound: &[] }
}

/// Every command that writes.
pub(crate) const CASES: &[Case] = &[
    at_once("compile, first", |place| {
        notes(place);
        args("compile notes --db m.db")
    }),
    at_once("compile, again", |place| {
        memory(place);
        place.write("notes/b.md", "# Beta\n\nThe second text of beta, about [[Gamma]].\n");
        place.write("notes/e.md", "# Epsilon\n\nNew.\n");
        fs::remove_file(place.path("notes/d.md")).unwrap();
        fs::rename(place.path("notes/c.md"), place.path("notes/renamed.md")).unwrap();
        args("compile notes --db m.db")
    }),
    at_once("write", |place| after_memory(place, "write A text by hand --db m.db")),
    at_once("write, a child", |place| {
        after_memory(place, "write Below it --anchor a.md --db m.db")
    }),
    at_once("summarize", |place| after_memory(place, "summarize b.md Short --db m.db")),
    at_once("forget", |place| after_memory(place, "forget d.md --mode cascade --db m.db")),
    at_once("pin", |place| after_memory(place, "pin a.md --db m.db")),
    at_once("unpin", |place| {
        memory(place);
        place.ok("pin a.md --db m.db");
        args("unpin a.md --db m.db")
    }),
    at_once("relate", |place| after_memory(place, "relate a.md d.md --db m.db")),
    at_once("unrelate", |place| {
        memory(place);
        place.ok("relate a.md d.md --db m.db");
        args("unrelate a.md d.md --db m.db")
    }),
    at_once("rollback", |place| after_memory(place, "rollback 1 --db m.db")),
    at_once("rollback, dropping", |place| after_memory(place, "rollback 1 --drop-after --db m.db")),
    at_once("remember", |place| {
        after_memory(place, "remember --type core --tag tea Likes tea --db m.db")
    }),
    at_once("archive", |place| {
        memory(place);
        for text in ["Ice is slippery", "Water is wet"] {
            place.ok(&format!("remember --type learning {text} --db m.db"));
        }
        args("archive --days 0 --db m.db")
    }),
    at_once("view-query", |place| after_memory(place, "view-query hot type=core --db m.db")),
    at_once("gc", |place| after_memory(place, "gc --keep 1 --db m.db")),
    at_once("gc, no backup", |place| after_memory(place, "gc --keep 1 --no-backup --db m.db")),
    at_once("redact", |place| {
        memory(place);
        place.write(
            "notes/.remindb/config.json",
            r#"{"redaction":{"custom":[{"kind":"ticket","pattern":"QX-[0-9]{6}"}]}}"#,
        );
        args("redact --source notes --db m.db")
    }),
    at_once("backup", |place| after_memory(place, "backup copy.db --db m.db")),
    at_once("restore", |place| {
        memory(place);
        place.ok("backup copy.db --db m.db");
        place.ok("write Later --db m.db");
        args("restore copy.db --db m.db")
    }),
    at_once("export", |place| after_memory(place, "export all.jsonl --db m.db")),
    at_once("export, forced", |place| {
        memory(place);
        place.write("all.jsonl", "The file before.\n");
        args("export all.jsonl --force --db m.db")
    }),
    Case {
        name: "export to a folder",
        prepare: |place| {
            memory(place);
            place.ok("remember --type core Likes tea --db m.db");
            place.ok("export --format agent-memory out --db m.db");
            place.ok("remember --type task Buy salt --db m.db");
            args("export --format agent-memory out --force --db m.db")
        },
        // File after file, and the list of them last.
        effect: Effect::InSteps,
        unsound: &[],
    },
    at_once("import", |place| {
        memory(place);
        place.ok("export all.jsonl --db m.db");
        place.remove_memory();
        args("import all.jsonl --db m.db")
    }),
    at_once("import of a folder", |place| {
        memory(place);
        for text in ["Likes tea", "Likes salt"] {
            place.ok(&format!("remember --type core {text} --db o.db"));
        }
        place.ok("export --format agent-memory out --db o.db");
        fs::remove_file(place.path("o.db")).unwrap();
        args("import --from agent-memory out --db m.db")
    }),
    Case {
        name: "salvage",
        prepare: |place| {
            memory(place);
            fs::rename(place.path("m.db"), place.path("torn.db")).unwrap();
            args("salvage torn.db --out m.db")
        },
        effect: Effect::AtOnce,
        unsound: &["torn.db"],
    },
    Case {
        name: "doctor --fix",
        prepare: |place| {
            memory(place);
            place.tamper("UPDATE memory SET fingerprint = 1; UPDATE node SET token_count = 7");
            args("doctor --fix --db m.db")
        },
        effect: Effect::InSteps,
        unsound: &["m.db"],
    },
    Case {
        name: "migration",
        prepare: |place| {
            let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema_9.sqlite");
            place.write("m.db", fs::read(golden).unwrap());
            args("write A text by hand --db m.db")
        },
        effect: Effect::InSteps,
        unsound: &["m.db"],
    },
    at_once("setup", |place| {
        memory(place);
        place.write("home/.claude.json", "{\n  \"theme\": \"dark\"\n}\n");
        args("setup claude-code --db m.db")
    }),
];

fn args(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn notes(place: &Place<'_>) {
    place.write("notes/a.md", "# Alpha\n\nThe text of alpha, ticket QX-100001.\n\n- one\n- two\n");
    place.write("notes/b.md", "# Beta\n\nThe text of beta, see [[Alpha]].\n\n## Part\n\nMore.\n");
    place.write("notes/c.md", format!("# Gamma\n\n{}\n", "Words of gamma. ".repeat(200)));
    place.write("notes/d.md", "# Delta\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
}

/// Makes a memory of some snapshots.
pub(crate) fn memory(place: &Place<'_>) {
    notes(place);
    place.ok("compile notes --db m.db");
    place.write("notes/b.md", "# Beta\n\nThe text of beta, changed. See [[Alpha]].\n");
    place.ok("compile notes --db m.db");
    place.ok("write What was there before, QX-100002. --db m.db");
}

fn after_memory(place: &Place<'_>, line: &str) -> Vec<String> {
    memory(place);
    args(line)
}
