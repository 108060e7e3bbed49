//! Resolves imports between files, through re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;

type Path = Vec<String>;

/// The files that each file imports, by index into the sources.
pub(super) struct Imports(BTreeMap<usize, BTreeSet<usize>>);

impl Imports {
    pub(super) fn of(sources: &[Source]) -> Imports {
        let files: BTreeMap<&[String], usize> =
            sources.iter().enumerate().map(|(at, it)| (it.module.as_slice(), at)).collect();
        let written: Vec<Written> = sources.iter().map(Written::of).collect();
        let follow = |mut path: Path| {
            // A name is re-exported a few times at most.
            for _ in 0..8 {
                let n = (0..=path.len()).rev().find(|n| files.contains_key(&path[..*n]))?;
                let file = files[&path[..n]];
                match path.get(n).and_then(|name| written[file].exports.get(name)) {
                    Some(target) => path = [target.as_slice(), &path[n + 1..]].concat(),
                    None => return Some(file),
                }
            }
            None
        };
        let mut imports = BTreeMap::<usize, BTreeSet<usize>>::new();
        for (at, written) in written.iter().enumerate() {
            if sources[at].is_test() {
                imports.insert(at, BTreeSet::new());
                continue;
            }
            let targets = written.paths.iter().filter_map(|it| follow(it.clone()));
            imports.insert(at, targets.filter(|it| *it != at).collect());
        }
        Imports(imports)
    }

    /// Returns every import, as the files at its two ends.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().flat_map(|(from, targets)| targets.iter().map(|to| (*from, *to)))
    }

    /// Returns groups of files that import one another, directly or through others. A module and
    /// its own submodules may.
    pub(super) fn circles(&self, sources: &[Source]) -> Vec<Vec<usize>> {
        let is_kin = |a: usize, b: usize| {
            let (a, b) = (&sources[a].module, &sources[b].module);
            a.starts_with(b) || b.starts_with(a)
        };
        let mut reached = BTreeMap::new();
        for start in 0..sources.len() {
            let mut seen = BTreeSet::new();
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                let next = self.0[&at].iter().filter(|it| !is_kin(at, **it));
                open.extend(next.copied().filter(|it| seen.insert(*it)));
            }
            reached.insert(start, seen);
        }
        let mut circles = BTreeSet::new();
        for (start, seen) in reached.iter().filter(|(at, seen)| seen.contains(at)) {
            circles.insert(seen.iter().copied().filter(|it| reached[it].contains(start)).collect());
        }
        circles.into_iter().collect()
    }
}

/// The paths that a file names, from the root of the crate.
struct Written {
    paths: Vec<Path>,
    /// The names that it re-exports, with their paths.
    exports: BTreeMap<String, Path>,
}

impl Written {
    fn of(source: &Source) -> Written {
        let code: String = source.code().flat_map(|(_, line)| [line, "\n"]).collect();
        let mut written = Written { paths: Vec::new(), exports: BTreeMap::new() };
        for statement in code.split_inclusive(';') {
            let Some((before, tree)) = use_tree(statement) else {
                written.paths.extend(inline(statement, &source.module));
                continue;
            };
            for (path, name) in leaves(tree) {
                let path = match path[0].as_str() {
                    "crate" | "self" | "super" => absolute(&path, &source.module),
                    // A child of this module, or another crate, which is no file here.
                    _ => [source.module.clone(), path].concat(),
                };
                if before.contains("pub") {
                    written.exports.insert(name, path.clone());
                }
                written.paths.push(path);
            }
        }
        written
    }
}

/// Returns the tree of a `use` statement, and the text before the word in its line.
fn use_tree(statement: &str) -> Option<(&str, &str)> {
    let at = statement.match_indices("use ").find_map(|(at, _)| {
        let line = statement[..at].rsplit('\n').next().unwrap_or("").trim_start();
        (line.is_empty() || line.starts_with("pub")).then_some(at)
    })?;
    let line = statement[..at].rsplit('\n').next().unwrap_or("");
    Some((line, statement[at + 4..].trim_end_matches(';')))
}

/// Returns each path of a tree, and the name that it gets.
fn leaves(tree: &str) -> Vec<(Path, String)> {
    let segments = |path: &str| -> Path {
        path.split("::").map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let Some((head, inner)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = segments(path);
        let name = if alias.is_empty() { path.last().cloned() } else { Some(alias.trim().into()) };
        return name.map(|name| vec![(path, name)]).unwrap_or_default();
    };
    let (head, inner) = (segments(head), inner.rsplit_once('}').map_or(inner, |(it, _)| it));
    let mut depth = 0;
    let parts = inner.split(|it| {
        depth += i32::from(it == '{') - i32::from(it == '}');
        it == ',' && depth == 0
    });
    let inner = parts.filter(|it| !it.trim().is_empty()).flat_map(leaves);
    inner.map(|(path, name)| ([head.clone(), path].concat(), name)).collect()
}

/// Returns the paths that begin with `crate`, `self` or `super` in the middle of code.
fn inline<'a>(code: &'a str, module: &'a [String]) -> impl Iterator<Item = Path> + 'a {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    code.split(move |it| !is_part(it)).filter_map(move |path| {
        let path: Path = path.trim_matches(':').split("::").map(str::to_owned).collect();
        let is_own = 1 < path.len() && ["crate", "self", "super"].contains(&path[0].as_str());
        is_own.then(|| absolute(&path, module))
    })
}

/// Returns a path from the root of the crate.
fn absolute(path: &[String], module: &[String]) -> Path {
    let n_super = path.iter().take_while(|it| *it == "super").count();
    let base = match path[0].as_str() {
        "crate" => &[],
        _ => &module[..module.len().saturating_sub(n_super)],
    };
    let rest = path.iter().filter(|it| !["crate", "self", "super"].contains(&it.as_str()));
    base.iter().chain(rest).cloned().collect()
}
