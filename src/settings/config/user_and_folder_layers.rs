//! Layers of settings: a folder's file over the file of a user, key by key.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{CONFIG_FILE, Config, ConfigError, RemindUserConfig, Trust, UntrustedSetting};

/// The file of a user, which has the keys of a folder's and is trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserConfig {
    /// Its path in messages.
    name: String,
    map: Map<String, Value>,
    config: Config,
}

impl UserConfig {
    /// Parses the text of the file; `name` is its path in messages.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Arc<UserConfig>, ConfigError> {
        let map = Config::to_map(name, text)?;
        let config = Config::of_map(name, map.clone())?;
        Ok(Arc::new(UserConfig { name: name.to_owned(), map, config }))
    }

    /// Parses the text of the file as [`UserConfig::parse`] does. Where it asks for the providers
    /// that settings of Remind name, a job without one has that of these.
    pub(crate) fn parse_with<'a>(
        name: &str,
        text: &str,
        remind: impl FnOnce() -> RemindUserConfig<'a>,
    ) -> Result<Arc<UserConfig>, ConfigError> {
        let user = UserConfig::parse(name, text)?;
        if !user.config.providers.follows_remind {
            return Ok(user);
        }
        let refuse = |why| ConfigError(format!("`providers.remind` in {name}: {why}"));
        let named = remind().providers().map_err(refuse)?;
        let mut map = user.map.clone();
        if let Some(Value::Object(providers)) = map.get_mut("providers") {
            for (job, provider) in named {
                providers.entry(job).or_insert(provider);
            }
        }
        let config = Config::of_map(name, map.clone())?;
        Ok(Arc::new(UserConfig { name: name.to_owned(), map, config }))
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
    ) -> Result<(Config, Vec<UntrustedSetting>), ConfigError> {
        let mut map = Config::to_map(CONFIG_FILE, text)?;
        let mut folder = Config::of_map(CONFIG_FILE, map.clone())?;
        let mut untrusted = folder.take_those_of_user();
        if trust == Trust::Withheld {
            untrusted.extend(folder.restrict());
        }
        if self.map.is_empty() {
            return Ok((folder, untrusted));
        }
        for it in &untrusted {
            remove(&mut map, it.key);
        }
        let mut all = self.map.clone();
        put_over(&mut all, map, "");
        // Each is valid, and together they may not be.
        let name = format!("{CONFIG_FILE} over {}", self.name);
        Ok((Config::of_map(&name, all)?, untrusted))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::config::{Transport, TypedMemorySettings};

    fn user(text: &str) -> Arc<UserConfig> {
        UserConfig::parse("/home/me/config.json", text).unwrap()
    }

    #[test]
    fn a_folder_counts_before_the_user_key_by_key() {
        let user = user(
            r#"{"budgets": {"search": 1, "fetch": 2}, "server": {"transport": "http"},
                "memory": {"max_core": 5, "max_tasks": 6}}"#,
        );
        let folder = r#"{"budgets": {"search": 3, "fetch": null}, "memory": {"max_core": 7}}"#;
        let (config, untrusted) = user.complete(folder, Trust::Given).unwrap();
        assert_eq!((config.budgets.search, config.budgets.fetch), (Some(3), Some(2)));
        assert_eq!(config.server.transport, Some(Transport::Http), "the user is trusted");
        assert_eq!((config.memory.max_core, config.memory.max_tasks), (Some(7), Some(6)));
        assert_eq!(untrusted, []);
    }

    #[test]
    fn what_an_untrusted_folder_may_not_set_is_left_to_the_user() {
        let user = user(
            r#"{"memory": {"max_core": 5}, "server": {"listen": "127.0.0.1:1"},
                "redaction": {"disable_builtin_kinds": ["jwt"]}}"#,
        );
        let folder = r#"{"memory": {"max_core": 1, "backup": false},
            "server": {"listen": "0.0.0.0:1", "structured": true},
            "redaction": {"disable_builtin_kinds": ["npm_token"]}}"#;
        let (config, untrusted) = user.complete(folder, Trust::Withheld).unwrap();
        let keys: Vec<&str> = untrusted.iter().map(|it| it.key).collect();
        assert_eq!(keys, ["redaction.disable_builtin_kinds", "memory", "server.listen"]);
        let memory = TypedMemorySettings { max_core: Some(5), ..TypedMemorySettings::default() };
        assert_eq!(config.memory, memory);
        assert_eq!(config.server.listen.as_deref(), Some("127.0.0.1:1"));
        assert!(config.server.structured);
        assert_eq!(config.redaction.disable_builtin_kinds, ["jwt"]);
    }

    #[test]
    fn the_secrets_of_both_are_known() {
        let user = user(r#"{"redaction": {"custom": [{"kind": "mine", "pattern": "M-\\d+"}]}}"#);
        let folder = r#"{"redaction": {"custom": [{"kind": "theirs", "pattern": "T-\\d+"}]}}"#;
        let (config, _) = user.complete(folder, Trust::Withheld).unwrap();
        let scrubbed = config.redactor().unwrap().scrub("M-1 T-2").text.into_owned();
        assert_eq!(scrubbed, "«redacted:mine» «redacted:theirs»");
    }

    #[test]
    fn a_fault_names_the_file_that_has_it() {
        let name = "/home/me/config.json";
        let error = |text| UserConfig::parse(name, text).unwrap_err().to_string();
        assert_eq!(error("[]"), "/home/me/config.json must be an object, not `[]`");
        assert_eq!(
            error(r#"{"memory": {"max_core": 0}}"#),
            "`memory.max_core` in /home/me/config.json must be a whole number from 1 to 1000000, \
             not `0`"
        );
        let folder = UserConfig::default().complete("[]", Trust::Given).unwrap_err().to_string();
        assert_eq!(folder, ".remindb/config.json must be an object, not `[]`");
        let frozen = user(r#"{"temperature": {"enabled": false, "tick_interval": "0s"}}"#);
        let both = frozen.complete(r#"{"temperature": {"enabled": true}}"#, Trust::Given);
        assert_eq!(
            both.unwrap_err().to_string(),
            "`temperature.tick_interval` in .remindb/config.json over /home/me/config.json must be \
             positive, not `\"0s\"`"
        );
    }
}
