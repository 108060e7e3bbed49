//! Tests of files and blocks that write-back leaves as they are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{Desk, NOTE};
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode};
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions};

#[test]
fn a_file_that_changed_is_left_alone() {
    let desk = Desk::with(NOTE);
    desk.person("a.md", &NOTE.replace("Bye", "Good bye"));
    let id = desk.id("One writes.");
    let reply =
        desk.memory.write("Two write.", Some(&id), AppendOrReplaceMode::Replace).unwrap().text;
    let kept = "kept as overlay: a.md changed since it was compiled";
    assert!(reply.ends_with(kept), "{reply}");
    let reply = desk.memory.forget(&desk.id("- x\n- y"), ForgetChildrenMode::Strict).unwrap().text;
    assert!(reply.ends_with(kept), "{reply}");
    assert_eq!(desk.file("a.md"), NOTE.replace("Bye", "Good bye"));
    assert_eq!(desk.compile(), "compiled: 0 added, 1 modified, 0 removed");
    // The overlay and the tombstone stay; other nodes of the file land again.
    let mut file = NOTE.to_owned();
    for (at, old, new) in
        [("Good bye.", "Bye.", "So long."), ("Two write.", "One writes.", "Three write.")]
    {
        file = file.replace(old, new);
        assert_eq!(desk.write_at(at, AppendOrReplaceMode::Replace, new), format!("{file}\n"));
    }
}

#[test]
fn line_ends_marks_and_modes_of_a_file_stay() {
    let desk = Desk::new();
    let text = format!("\u{feff}{}", NOTE.trim_end().replace('\n', "\r\n"));
    desk.person("a.md", &text);
    fs::set_permissions(desk.path("a.md"), fs::Permissions::from_mode(0o640)).unwrap();
    desk.compile();
    desk.memory
        .write("Two\nwrite.", Some(&desk.id("One writes.")), AppendOrReplaceMode::Replace)
        .unwrap();
    desk.memory.write("More.", Some(&desk.id("Later")), AppendOrReplaceMode::Append).unwrap();
    let expected = text.replace("One writes.", "Two\r\nwrite.") + "\r\n\r\nMore.";
    assert_eq!(desk.file("a.md"), expected);
    assert_eq!(fs::metadata(desk.path("a.md")).unwrap().permissions().mode() & 0o777, 0o640);
    desk.check_settled();
}

#[test]
fn a_secret_of_a_person_is_never_written_over() {
    let secret = ["ghp", "0123456789abcdefghijABCDEFGHIJ012345"].join("_");
    let text = format!("# A\n\nBefore.\n\nThe token is {secret} here.\n\nAfter.\n");
    let desk = Desk::with(&text);
    let marked = "The token is «redacted:github_pat» here.";
    desk.memory.write("Later.", Some(&desk.id("After.")), AppendOrReplaceMode::Replace).unwrap();
    assert_eq!(desk.file("a.md"), text.replace("After.", "Later."));
    desk.check_settled();
    for words in ["No token.", "The token is «redacted:github_pat» there."] {
        let at = desk.id(marked);
        let reply = desk.memory.write(words, Some(&at), AppendOrReplaceMode::Replace).unwrap().text;
        assert!(reply.contains("kept as overlay: a.md has a secret there"), "{reply}");
        desk.memory.write(marked, Some(&at), AppendOrReplaceMode::Replace).unwrap();
    }
    let reply = desk.memory.forget(&desk.id(marked), ForgetChildrenMode::Strict).unwrap().text;
    assert!(reply.contains("has a secret there"), "{reply}");
    let reply = desk.memory.forget(&desk.id("A"), ForgetChildrenMode::Cascade).unwrap().text;
    assert!(reply.contains("kept as overlay"), "{reply}");
    assert!(desk.file("a.md").contains(&secret));
    desk.check_settled();
}

#[test]
fn nothing_is_written_in_other_formats_or_through_links() {
    let desk = Desk::new();
    desk.person("c.json", "{\"port\": 80}");
    desk.person("elsewhere/b.md", "Linked.\n");
    symlink(desk.path("elsewhere/b.md"), desk.path("b.md")).unwrap();
    desk.person("page.html", "<p>A page.</p>");
    desk.person("plain.txt", "A plain text.\n\nAnother.\n");
    desk.compile();
    let replace = |text: &str, words: &str| {
        let at = desk.id(text);
        desk.memory.write(words, Some(&at), AppendOrReplaceMode::Replace).unwrap().text
    };
    assert!(replace("port: 80", "port: 81").contains("c.json is neither Markdown nor plain text"));
    assert!(replace("A page.", "No page.").contains("page.html is neither"));
    assert_eq!(desk.file("c.json"), "{\"port\": 80}");
    assert!(!replace("A plain text.", "A simple text.").contains("kept"));
    assert_eq!(desk.file("plain.txt"), "A simple text.\n\nAnother.\n");
    desk.check_settled();
    symlink("/etc", desk.path("agents")).unwrap();
    let reply = desk.memory.write("A new one.", None, AppendOrReplaceMode::Auto).unwrap().text;
    assert!(reply.contains("kept as overlay: agents/a-new-one.md"), "{reply}");
}

#[test]
fn a_folder_without_the_setting_is_not_written_to() {
    let desk = Desk::with(NOTE);
    let live = LiveRootSettings::start(&desk.path(""), OperatorOptions::default()).unwrap();
    let Desk { dir, memory } = desk;
    let desk = Desk { dir, memory: memory.with_workspace(live) };
    desk.memory.write("Two.", Some(&desk.id("One writes.")), AppendOrReplaceMode::Replace).unwrap();
    desk.memory.write("A new one.", None, AppendOrReplaceMode::Auto).unwrap();
    assert_eq!(desk.file("a.md"), NOTE);
    assert!(!desk.path("agents").exists());
    desk.check_settled();
}

#[test]
fn a_write_that_fails_leaves_the_file_as_it_was() {
    let desk = Desk::with(NOTE);
    let (heading, text) = (desk.id("Store"), desk.id("One writes."));
    let before = desk.file("a.md");
    let is_full = |n_pages: i64| {
        let conn = desk.memory.writer.lock();
        conn.pragma_update_and_check(None, "max_page_count", n_pages, |_| Ok(())).unwrap();
    };
    is_full(1);
    // More than fits into the pages that there are.
    let words = "Word. ".repeat(20_000);
    let long = words.trim_end();
    let write = |id: Option<&str>, mode| desk.memory.write(long, id, mode).unwrap_err();
    for error in [
        write(Some(&heading), AppendOrReplaceMode::Append),
        write(Some(&text), AppendOrReplaceMode::Replace),
        write(None, AppendOrReplaceMode::Auto),
        desk.memory.summarize(&text, long, None).unwrap_err(),
    ] {
        assert!(error.to_string().contains("nothing was changed"), "{error}");
    }
    assert_eq!(desk.file("a.md"), before);
    let agents: Vec<_> = fs::read_dir(desk.path("agents")).unwrap().collect();
    assert!(agents.is_empty(), "{agents:?}");
    is_full(1 << 30);
    desk.check_settled();
    assert!(desk.memory.write(long, Some(&heading), AppendOrReplaceMode::Append).is_ok());
    assert!(desk.file("a.md").contains(long));
    desk.check_settled();
}
