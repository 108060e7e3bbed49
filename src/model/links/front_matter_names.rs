//! The names that front matter gives a file: its title and its aliases.
//!
//! They are read from the front matter as stored, whether a file or an agent wrote it.

/// Maximum names of one file; further ones are ignored.
const NAMES_MAX: usize = 64;

/// Keys whose values name the file.
const KEYS: [&str; 3] = ["title", "aliases", "alias"];

/// Returns whether the node of that key path, below front matter, holds names of the file.
pub(crate) fn is_name_field(key_path: &str) -> bool {
    KEYS.contains(&key_path)
}

/// Returns the names in the content of front matter, or of a part of it.
pub(crate) fn front_matter_names(content: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in content.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if is_list {
                names.push(unquoted(item).to_owned());
            }
            continue;
        }
        is_list = false;
        let Some((key, value)) = line.split_once(':').or(line.split_once('=')) else { continue };
        // A list in the compact notation has its length after its key.
        let key = key.split('[').next().unwrap_or(key).trim();
        if !KEYS.contains(&key) {
            continue;
        }
        let value = value.trim();
        let flow = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        match (flow, key) {
            _ if value.is_empty() => is_list = true,
            (Some(items), _) => names.extend(items.split(',').map(|it| unquoted(it).to_owned())),
            (None, "title") => names.push(unquoted(value).to_owned()),
            (None, _) => names.extend(value.split(',').map(|it| unquoted(it).to_owned())),
        }
    }
    names.retain(|it| !it.is_empty());
    names.truncate(NAMES_MAX);
    names
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inside = |quote: char| value.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value).trim()
}

#[cfg(test)]
mod tests;
