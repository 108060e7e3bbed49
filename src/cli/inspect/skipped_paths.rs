//! Paths that a compile passes over, by root: the folders are walked as a compile walks them.

use std::path::Path;

use serde_json::{Value, json};

use crate::ingest::scan::{DetailLevel, IgnoreRules, SkippedPath, walk_folder};
use crate::query::render::to_label;
use crate::settings::root_settings::{OperatorOptions, RootSettings};
use crate::store::reader::FileSummary;

/// Returns the paths of each root, with the reason or the kind.
pub(super) fn find(
    files: &[FileSummary],
    options: &OperatorOptions,
) -> Vec<(String, Vec<SkippedPath>)> {
    let roots = files.chunk_by(|a, b| a.root == b.root);
    roots.map(|files| (files[0].root.clone(), of_root(files, options))).collect()
}

pub(super) fn render(found: &[(String, Vec<SkippedPath>)]) -> String {
    let mut out = String::from("=== Passed over ===\n");
    if found.iter().all(|(_, paths)| paths.is_empty()) {
        return out + "Nothing in the compiled folders.\n";
    }
    for (root, paths) in found.iter().filter(|it| !it.1.is_empty()) {
        out += &format!("{}\n", to_label(root));
        for it in paths {
            let line = it.line.map(|it| format!(":{it}")).unwrap_or_default();
            out += &format!("  {}{line} ({})\n", to_label(&it.path), to_label(&it.what));
        }
    }
    out
}

pub(super) fn to_json(found: &[(String, Vec<SkippedPath>)]) -> Value {
    let paths = found.iter().flat_map(|(root, paths)| paths.iter().map(move |it| (root, it)));
    paths
        .map(|(root, SkippedPath { path, line, what })| {
            json!({"root": root, "path": path, "line": line, "why": what})
        })
        .collect()
}

fn of_root(files: &[FileSummary], options: &OperatorOptions) -> Vec<SkippedPath> {
    let folder = Path::new(&files[0].root);
    let whole = |what: String| vec![SkippedPath { path: String::new(), line: None, what }];
    if let Err(error) = folder.read_dir() {
        return whole(format!("cannot look at it: {error}"));
    }
    let workspace = match RootSettings::load(folder, options.clone()) {
        Ok(workspace) => workspace,
        Err(error) => return whole(error.to_string()),
    };
    let (rules, mut skipped) = match IgnoreRules::load(folder, workspace.gitignore()) {
        Ok(loaded) => loaded,
        Err(what) => return whole(what),
    };
    let rules = rules.with_code(workspace.code_files());
    let walk = walk_folder(&rules, folder, DetailLevel::Paths);
    skipped.extend(walk.skipped);
    skipped.extend(walk.passed_over.paths().iter().map(|it| SkippedPath {
        path: it.path.clone(),
        line: None,
        what: it.kind.to_string(),
    }));
    let scrub = |path: &str| workspace.redactor.scrub(path).text.into_owned();
    skipped.iter_mut().for_each(|it| it.path = scrub(&it.path));
    // Their paths are stored redacted.
    skipped.extend(files.iter().filter_map(|it| {
        Some(SkippedPath { path: it.path.clone(), line: None, what: it.error.clone()? })
    }));
    skipped.sort();
    skipped
}
