//! Measures redaction: false alarms in a real folder, and passwords that each notation hides.
//!
//! `make alarms FOLDER=…` lists each hit in a folder, by default in what cargo has unpacked on this
//! machine. Published sources have no secrets, so that a hit is a false alarm unless it was made
//! for a test, such as a key.

use std::fs;
use std::path::{Path, PathBuf};

use super::Redactor;

/// Maximum bytes of a file that is read, as a compile reads by default.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum characters that are shown before and after a hit.
const SHOWN_CHARS_MAX: usize = 60;

/// A notation: its name, and a function that puts a value into it.
type Notation = (&'static str, fn(&str) -> String);

const NOTATIONS: &[Notation] = &[
    ("yaml", |it| format!("db:\n  user: al\n  password: {it}\n  port: 1\n")),
    ("yaml, quoted", |it| format!("db:\n  password: '{it}'\n")),
    ("yaml, block", |it| format!("db:\n  password: |\n    {it}\n  port: 1\n")),
    ("yaml, folded", |it| format!("db:\n  password: >-\n    {it}\n")),
    ("toml", |it| format!("user = \"al\"\npassword = \"{it}\"\n")),
    ("json", |it| format!("{{\"user\": \"al\", \"password\": \"{it}\"}}")),
    ("variables", |it| format!("DB_USER=al\nDB_PASSWORD={it}\n")),
    ("ini", |it| format!("[db]\nuser=al\npassword={it}\n")),
    ("ini, spaced", |it| format!("[db]\nuser = al\npassword = {it}\n")),
    ("xml", |it| format!("<db><user>al</user><password>{it}</password></db>")),
    ("code", |it| format!("let user = \"al\";\nlet password = \"{it}\";\n")),
    ("csv", |it| format!("user,password,host\nal,{it},h1\nbo,{it},h2\n")),
    ("csv, quoted", |it| format!("\"email\",\"password\"\n\"al@x.org\",\"{it}\"\n")),
    ("tsv", |it| format!("login\tpassword\nal\t{it}\n")),
    ("toon", |it| format!("users[2]{{name,password}}:\n  al,{it}\n  bo,{it}\n")),
    ("toon, field", |it| format!("db:\n  user: al\n  password: {it}\n")),
    ("markdown", |it| format!("| user | password |\n|---|---|\n| al | {it} |\n")),
];

/// Passwords as people choose them.
#[rustfmt::skip]
const CHOSEN: &[&str] = &[
    "letmein", "swordfish", "dragon", "tiger", "qwerty", "monkey", "sunshine", "winter", "rosebud",
    "abracadabra", "postgres", "root", "hunter2", "x9kPq7", "Tr0ub4dor&3", "12345678",
];

/// Texts in the place of a password.
#[rustfmt::skip]
const NOT_CHOSEN: &[&str] = &[
    "string", "required", "optional", "hidden", "text", "varchar", "enabled", "disabled", "never",
    "none", "null", "true", "Passwort", "Mot de passe", "********", "${DB_PASSWORD}", "<password>",
    "changeme", "your-password-here", "see the wiki",
];

#[test]
fn passwords_are_found_in_every_notation() {
    let redactor = Redactor::builtin();
    let mut table = String::new();
    for (name, write) in NOTATIONS {
        let missed: Vec<&str> = CHOSEN
            .iter()
            .copied()
            .filter(|it| redactor.scrub(&write(it)).text.contains(it))
            .collect();
        let alarms: Vec<&str> =
            NOT_CHOSEN.iter().copied().filter(|it| redactor.has_secret(&write(it))).collect();
        if !missed.is_empty() || !alarms.is_empty() {
            table += &format!("{name}: missed {missed:?}, false {alarms:?}\n");
        }
    }
    expect_test::expect![[r#"
        variables: missed [], false ["enabled", "disabled", "never", "Passwort", "Mot de passe", "see the wiki"]
    "#]].assert_eq(&table);
}

#[test]
#[ignore = "reads a folder of this machine; `make alarms`"]
fn alarms_in_a_folder() {
    let folder = std::env::var_os("FOLDER").filter(|it| !it.is_empty());
    let folder = folder.map_or_else(registry, PathBuf::from);
    let redactor = Redactor::builtin();
    let (mut n_files, mut n_with_hits, mut n_hits) = (0_usize, 0_usize, 0_usize);
    for path in files(&folder) {
        let Some(text) = text_of(&path) else { continue };
        n_files += 1;
        let hits = redactor.scrub(&text).hits;
        n_with_hits += usize::from(!hits.is_empty());
        n_hits += hits.len();
        for hit in hits {
            let shown = path.strip_prefix(&folder).unwrap_or(&path).display();
            let line = text[..hit.range.start].matches('\n').count() + 1;
            let before: Vec<char> = text[..hit.range.start].chars().rev().take(30).collect();
            let before: String = before.into_iter().rev().collect();
            let value: String = text[hit.range.clone()].chars().take(SHOWN_CHARS_MAX).collect();
            println!("{shown}:{line}: {}: {:?}", hit.kind, format!("{before}◊{value}◊"));
        }
    }
    let rate = n_with_hits as f64 * 1000.0 / n_files.max(1) as f64;
    println!("{n_files} files, {n_hits} hits in {n_with_hits} files: {rate:.2} in 1,000 files");
}

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

/// Returns the text of a file that has one.
fn text_of(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    let text = (size <= FILE_BYTES_MAX).then(|| fs::read_to_string(path).ok()).flatten()?;
    (!text.contains('\0')).then_some(text)
}

/// Returns the files below a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map(|it| it.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        match path.symlink_metadata() {
            Ok(it) if it.is_dir() => found.append(&mut files(&path)),
            Ok(it) if it.is_file() => found.push(path),
            _ => (),
        }
    }
    found
}
