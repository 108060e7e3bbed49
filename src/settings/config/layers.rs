//! Layers of settings: a folder's file over the file of a user, key by key.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{CONFIG_FILE, Config, ConfigError, Trust, Untrusted};

/// The file of a user, which has the keys of a folder's and is trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserConfig {
    map: Map<String, Value>,
    config: Config,
}

impl UserConfig {
    /// Parses the text of the file; `name` is its path in messages.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Arc<UserConfig>, ConfigError> {
        let map = Config::to_map(name, text)?;
        let config = Config::of_map(name, map.clone())?;
        Ok(Arc::new(UserConfig { map, config }))
    }

    /// Returns the settings of the file.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Parses the text of a folder's file, and completes it by the user's. Settings that the folder
    /// may not make are left out, and returned.
    pub(crate) fn complete(
        &self,
        text: &str,
        trust: Trust,
    ) -> Result<(Config, Vec<Untrusted>), ConfigError> {
        let mut map = Config::to_map(CONFIG_FILE, text)?;
        let mut folder = Config::of_map(CONFIG_FILE, map.clone())?;
        let untrusted = match trust {
            Trust::Given => Vec::new(),
            Trust::Withheld => folder.restrict(),
        };
        if self.map.is_empty() {
            return Ok((folder, untrusted));
        }
        for it in &untrusted {
            remove(&mut map, it.key);
        }
        let mut all = self.map.clone();
        put_over(&mut all, map, "");
        Ok((Config::of_map(CONFIG_FILE, all)?, untrusted))
    }
}

/// Removes what is at a path of names.
fn remove(map: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => drop(map.shift_remove(path)),
        Some((name, rest)) => {
            if let Some(Value::Object(within)) = map.get_mut(name) {
                remove(within, rest);
            }
        }
    }
}

/// Puts the values of `upper` over those of `lower`. Objects are merged, and so are the lists of
/// further secrets, since one file must not switch off the protections of the other.
fn put_over(lower: &mut Map<String, Value>, upper: Map<String, Value>, path: &str) {
    for (name, value) in upper {
        let path = format!("{path}.{name}");
        match (lower.get_mut(&name), value) {
            (_, Value::Null) => (),
            (Some(Value::Object(below)), Value::Object(above)) => put_over(below, above, &path),
            (Some(Value::Array(below)), Value::Array(above)) if path == ".redaction.custom" => {
                below.extend(above);
            }
            (_, value) => drop(lower.insert(name, value)),
        }
    }
}
