//! A memory of altered bytes: examined, read, written to and salvaged without a panic, and without
//! a query that does not end.

use std::fs;
use std::path::Path;

use super::scratch_folder::ScratchFolder;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::transfer;
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode, Memory};
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;

const PAGE_BYTES: usize = 4096;

/// Bytes of one alteration: a page, a place in it as two bytes, and the new byte.
const ALTERATION_BYTES: usize = 4;

/// Alterations of one input; more say nothing new.
const ALTERATIONS_MAX: usize = 256;

const RESOURCES: [&str; 6] = [
    "remindb://overview",
    "remindb://files",
    "remindb://tree",
    "remindb://graph",
    "remindb://snapshots",
    "remindb://temperature",
];

/// The bytes of a sound memory, and the ids of its nodes.
struct SeedDatabase {
    bytes: Vec<u8>,
    ids: Vec<String>,
}

thread_local! {
    static BASE: SeedDatabase = SeedDatabase::new();
}

impl SeedDatabase {
    fn new() -> SeedDatabase {
        let folder = ScratchFolder::new();
        let path = folder.path("m.db");
        let memory = open(&path, IfMissing::Create).expect("a new memory");
        let mut ids = Vec::new();
        for text in [
            "# Alpha\n\nThe lease of a lock is one hour, see [[Beta]].\n\n- one\n- two",
            "# Beta\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet a = 1;\n```",
            "日本語テキストを検索する。",
        ] {
            let wrote =
                memory.write(text, None, AppendOrReplaceMode::Append).expect("a write").text;
            ids.push(wrote.split_whitespace().nth(2).expect("an id").to_owned());
        }
        memory.rollback(2, false).expect("a rollback");
        memory.rollback(3, false).expect("a rollback");
        drop(memory);
        SeedDatabase { bytes: fs::read(&path).expect("the memory is one file"), ids }
    }
}

fn open(path: &Path, if_missing: IfMissing) -> Result<Memory, crate::memory::Error> {
    Memory::open_at(path, if_missing, Clock::manual(UnixMillis(1_000)))
}

/// Panics when a database violates an invariant; `data` alters a sound one byte by byte.
pub fn database(data: &[u8]) {
    let folder = ScratchFolder::new();
    let path = folder.path("m.db");
    BASE.with(|SeedDatabase { bytes, ids }| {
        let mut bytes = bytes.clone();
        for alteration in data.chunks_exact(ALTERATION_BYTES).take(ALTERATIONS_MAX) {
            let &[page, low, high, byte] = alteration else { continue };
            let n_pages = bytes.len() / PAGE_BYTES;
            let at = usize::from(u16::from_le_bytes([low, high])) % PAGE_BYTES;
            bytes[usize::from(page) % n_pages * PAGE_BYTES + at] = byte;
        }
        fs::write(&path, bytes).expect("there is room for a memory");
        // Each outcome is as good as the other, as long as there is one.
        let _ = doctor::examine(&path);
        if let Ok(memory) = open(&path, IfMissing::Refuse) {
            read(&memory, ids);
            write(&memory, ids);
        }
        salvage(&path, &folder.path("new.db"));
    });
}

fn read(memory: &Memory, ids: &[String]) {
    for words in ["lease of alpha", "\"one hour\" OR bet*", "日本"] {
        let _ = memory.search(words, Some(300));
    }
    let _ = (memory.tree(None, Some(300)), memory.stats());
    let _ = (memory.delta(0, Some(300)), memory.diff(1, 4, Some(300)));
    for id in ids {
        let _ = (memory.fetch(id, Some(300)), memory.history(id, Some(300)));
    }
    let view = memory.read_only();
    for uri in RESOURCES {
        let _ = view.resource(uri);
    }
}

fn write(memory: &Memory, ids: &[String]) {
    let _ = memory.write("A new text, see [[Alpha]].", None, AppendOrReplaceMode::Append);
    let _ = memory.write("Another one.", Some(&ids[0]), AppendOrReplaceMode::Append);
    let _ = memory.forget(&ids[1], ForgetChildrenMode::Cascade);
    let _ = (memory.rollback(1, false), memory.rollback(2, true));
}

/// Salvages the file; what comes of it is sound.
fn salvage(damaged: &Path, new: &Path) {
    if transfer::salvage(damaged, new, UnixMillis(2_000), &mut |_, _| ()).is_ok() {
        let report = doctor::examine(new).expect("a salvaged memory can be examined");
        assert_ne!(report.status(), CheckStatus::Fail, "{}", report.to_json());
    }
}
