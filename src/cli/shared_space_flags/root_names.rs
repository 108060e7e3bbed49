//! Names roots the same on every machine: as `--root` says, by the repository, or by the folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::ingest::scan;

/// Bytes of a file of a repository, at most.
const GIT_BYTES_MAX: u64 = 1024 * 1024;

/// Longest name of a root, in characters.
const NAME_CHARS_MAX: usize = 200;

/// Names that the command line gives to folders.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct RootNames(Vec<(String, PathBuf)>);

impl RootNames {
    /// Parses `NAME=PATH` each.
    pub(in crate::cli) fn parse(given: &[String]) -> Result<RootNames, String> {
        let mut names = Vec::new();
        for text in given {
            let form = || format!("`--root` needs NAME=PATH, not `{text}`");
            let (name, path) = text.split_once('=').ok_or_else(form)?;
            if name.is_empty() || name.starts_with('/') || path.is_empty() {
                return Err(form());
            }
            let path = Path::new(path);
            let full = path
                .canonicalize()
                .map_err(|error| format!("cannot find `{}`: {error}", path.display()))?;
            names.push((name.to_owned(), full));
        }
        Ok(RootNames(names))
    }

    /// Returns the name of the root at a path, which is never an absolute path.
    pub(in crate::cli) fn name_of(&self, path: &Path) -> String {
        if let Some((name, _)) = self.0.iter().find(|it| it.1 == path) {
            return name.clone();
        }
        let folder = || path.file_name().map(|it| it.to_string_lossy().into_owned());
        let name = of_repository(path).or_else(folder).unwrap_or_else(|| "root".to_owned());
        name.trim_start_matches('/').chars().take(NAME_CHARS_MAX).collect()
    }
}

/// Returns the origin of the repository that a folder is in, with the folder's place in it.
fn of_repository(path: &Path) -> Option<String> {
    let top = path.ancestors().find(|it| it.join(".git").exists())?;
    let config = read(&git_folder(&top.join(".git"))?.join("config")).ok()?;
    let origin = origin_in(&config)?;
    let below = path.strip_prefix(top).ok()?.to_string_lossy().replace('\\', "/");
    Some(if below.is_empty() { origin } else { format!("{origin}/{below}") })
}

/// Returns the folder with the repository's settings, which several working trees may share.
fn git_folder(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = read(git).ok()?;
    let own = git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    match read(&own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
}

/// Reads a file of a repository, which may be a stranger's.
fn read(path: &Path) -> io::Result<String> {
    scan::read_regular_text(path, GIT_BYTES_MAX)
}

/// Returns the address of the remote `origin` as `host/path`, without a user or a password.
fn origin_in(config: &str) -> Option<String> {
    let mut is_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_origin = line.replace(' ', "") == "[remote\"origin\"]";
        } else if is_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "url"
        {
            return plain_address(value.trim());
        }
    }
    None
}

fn plain_address(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme == "file" || rest.starts_with(['/', '.', '~']) {
        // A folder of this machine; its last name may be the same elsewhere.
        let name = Path::new(rest).file_name()?.to_string_lossy().into_owned();
        return Some(name.trim_end_matches(".git").to_owned());
    }
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) if !scheme.is_empty() => (authority, path),
        // `git@host:path`, as ssh has it.
        _ => rest.split_once(':')?,
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let path = path.trim_matches('/').trim_end_matches(".git");
    Some(format!("{host}/{path}")).filter(|_| !host.is_empty() && !path.is_empty())
}

#[cfg(test)]
mod tests;
