//! Attributes each megabyte of the program to a crate, by the program's symbols.
//!
//! Machine code counts for the crate in which its function was written: generic code of the
//! standard library used by others counts for the standard library. Code inlined by link-time
//! optimization counts for its caller.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::process::program;
use crate::table::Figure;

/// Smaller shares are summed up as one.
const SHOWN_BYTES: u64 = 40_000;
const VOCABULARY: &str = "src/text/tokens/cl100k.bin";

/// Returns the size of the stripped program and of its parts, largest first.
pub(crate) fn figures(dir: &Path) -> Outcome<Vec<Figure>> {
    let stripped = dir.join("stripped");
    run("strip", &["-o", &stripped.to_string_lossy()], &program())?;
    let all = fs::metadata(stripped)?.len();
    let mut parts = code()?;
    let mut rest = parts.values().sum::<u64>();
    let sections = sections()?;
    let of = |names: &[&str]| names.iter().filter_map(|it| sections.get(*it)).sum::<u64>();
    let (text, constants) = (of(&[".text"]), of(&[".rodata"]));
    let vocabulary = fs::metadata(VOCABULARY)?.len().min(constants);
    let padding = ("code: between functions".to_owned(), text.saturating_sub(rest));
    parts.extend([
        padding,
        ("constants: the vocabulary of cl100k".to_owned(), vocabulary),
        ("constants: all others".to_owned(), constants - vocabulary),
        (
            "tables for unwinding".to_owned(),
            of(&[".eh_frame", ".eh_frame_hdr", ".gcc_except_table"]),
        ),
        ("tables of addresses".to_owned(), of(&[".data.rel.ro", ".got", ".init_array"])),
    ]);
    rest = parts.values().sum();
    parts.insert("headers and all other sections".to_owned(), all.saturating_sub(rest));
    let mut parts: Vec<(String, u64)> = parts.into_iter().collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let part = |(what, bytes)| Figure::new(&format!("  {what}"), "MB", mb(bytes));
    let whole = Figure::new("the program, stripped", "MB", mb(all));
    Ok(std::iter::once(whole).chain(parts.into_iter().map(part)).collect())
}

/// Returns bytes of machine code by crate.
fn code() -> Outcome<BTreeMap<String, u64>> {
    let sqlite = sqlite_symbols()?;
    let mut by_owner: BTreeMap<String, u64> = BTreeMap::new();
    // A function may have several names.
    let mut seen = HashSet::new();
    for line in run("nm", &["--demangle", "--print-size", "--defined-only"], &program())?.lines() {
        let mut words = line.splitn(4, ' ');
        let (address, size) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let (Some("t" | "T" | "w" | "W" | "i"), Some(name)) = (words.next(), words.next()) else {
            continue;
        };
        let Ok(size) = u64::from_str_radix(size, 16) else { continue };
        if !seen.insert(address.to_owned()) {
            continue;
        }
        *by_owner.entry(owner(name, &sqlite)).or_default() += size;
    }
    if by_owner.is_empty() {
        return Err("the program has no symbols".into());
    }
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    for (owner, bytes) in by_owner {
        let named = match owner.as_str() {
            "core" | "alloc" | "std" => "the standard library".to_owned(),
            "SQLite" | "remindb" | "the C library" => owner,
            _ if bytes < SHOWN_BYTES => "all other crates".to_owned(),
            _ => owner,
        };
        *parts.entry(format!("code: {named}")).or_default() += bytes;
    }
    Ok(parts)
}

/// Returns the crate of a function, or another origin.
///
/// The first path in the name is that of the function, or of the type whose method it is.
pub(crate) fn owner(name: &str, sqlite: &HashSet<String>) -> String {
    let bare = name.split('.').next().unwrap_or(name);
    if sqlite.contains(bare) {
        return "SQLite".to_owned();
    }
    let Some(end) = name.find("::") else { return "the C library".to_owned() };
    let before = &name[..end];
    let start = before.rfind(|it: char| !it.is_alphanumeric() && it != '_').map_or(0, |it| it + 1);
    before[start..].to_owned()
}

/// Returns the names of SQLite's functions, from the linked library.
pub(crate) fn sqlite_symbols() -> Outcome<HashSet<String>> {
    let mut symbols = HashSet::new();
    for library in libraries()? {
        for line in run("nm", &["--defined-only"], library.as_os_str())?.lines() {
            let name = line.rsplit(' ').next().unwrap_or("");
            symbols.insert(name.split('.').next().unwrap_or(name).to_owned());
        }
    }
    match symbols.is_empty() {
        true => Err("SQLite's library is not where cargo leaves it".into()),
        false => Ok(symbols),
    }
}

fn libraries() -> Outcome<Vec<PathBuf>> {
    let own = std::env::current_exe()?;
    let built = own.parent().and_then(Path::parent).ok_or("no folder of builds")?.join("build");
    let folders =
        fs::read_dir(&built).map_err(|error| format!("`{}`: {error}", built.display()))?;
    let folders = folders.collect::<Result<Vec<_>, _>>()?;
    let library = |it: fs::DirEntry| it.path().join("out/libsqlite3.a");
    Ok(folders.into_iter().map(library).filter(|it| it.exists()).collect())
}

fn sections() -> Outcome<BTreeMap<String, u64>> {
    let text = run("size", &["-A"], &program())?;
    let section = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    Ok(text.lines().filter_map(section).collect())
}

fn run(tool: &str, arguments: &[&str], file: &OsStr) -> Outcome<String> {
    let ran = Command::new(tool).args(arguments).arg(file).output();
    let out = ran.map_err(|error| format!("`{tool}` cannot be run: {error}"))?;
    if !out.status.success() {
        return Err(format!("`{tool}`: {}", String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
