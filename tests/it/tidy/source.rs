//! Reads the source files of the library for the rules.

use std::fs;
use std::path::Path;

/// One file below `src/`, without the tests inside it.
pub(super) struct Source {
    /// Path relative to `src/`, `/` between segments.
    pub(super) path: String,
    /// The file's module: `["store", "reader"]`; empty for `lib.rs`.
    pub(super) module: Vec<String>,
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Source {
        let module = path.trim_end_matches(".rs").split('/').map(str::to_owned);
        let module = module.filter(|it| !["lib", "main"].contains(&it.as_str())).collect();
        Source { path: path.to_owned(), module, text: text.to_owned() }
    }

    /// Reads every file below `src/`, in the order of their paths.
    pub(super) fn all() -> Vec<Source> {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![src.clone()];
        let mut sources = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "rs") {
                    let below = path.strip_prefix(&src).unwrap().to_str().unwrap();
                    let text = fs::read_to_string(&path).unwrap();
                    sources.push(Source::new(&below.replace('\\', "/"), &text));
                }
            }
        }
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        sources
    }

    /// Returns the first segment below `src/`, or `lib` and `main` for those files.
    pub(super) fn room(&self) -> &str {
        self.path.split(['/', '.']).next().expect("a split has at least one part")
    }

    /// Returns whether only tests use the file.
    pub(super) fn is_test(&self) -> bool {
        let is_support = |it: &String| it == "tests" || it.ends_with("testing");
        self.module.iter().any(is_support)
    }

    /// Returns the lines up to the tests inside the file, with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        (1..).zip(self.text[..end].lines())
    }

    /// Returns the lines without comments.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Returns functions by their first line, with their names and numbers of lines.
    pub(super) fn functions(&self) -> Vec<(usize, &str, usize)> {
        let mut functions = Vec::new();
        let mut open: Option<(usize, &str, String)> = None;
        for (number, line) in self.lines() {
            if let Some((start, name, end)) = &open {
                if line == end {
                    functions.push((*start, *name, number + 1 - start));
                    open = None;
                } else if line.ends_with(';') && line.starts_with(&end.replace('}', ")")) {
                    // The declaration of a trait, which has no body.
                    open = None;
                }
            } else if let Some((before, after)) = line.split_once("fn ")
                && before
                    .trim()
                    .split(' ')
                    .all(|it| ["", "const"].contains(&it) || it.starts_with("pub"))
                && !line.ends_with(['}', ';'])
            {
                let name = after.split(|it: char| !it.is_alphanumeric() && it != '_').next();
                let indent = &line[..line.len() - line.trim_start().len()];
                open = name.map(|name| (number, name, format!("{indent}}}")));
            }
        }
        functions
    }
}
