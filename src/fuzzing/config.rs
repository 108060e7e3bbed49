//! Configuration files of any content: parsed or refused without a panic, and safe once restricted.

use crate::settings::config::{self, Config, Trust, UserConfig};
use crate::settings::initial_temperatures::InitialTemperatures;

/// Panics when parsing `data` as a configuration or as temperatures violates an invariant.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Config::parse(&text) {
        Ok(mut config) => {
            assert!(config.redactor().is_ok());
            let completed = UserConfig::default().complete(&text, Trust::Withheld);
            let mut restricted = config.clone();
            let expected = restricted.restrict();
            assert_eq!(completed, Ok((restricted, expected)));
            // A person's file of the same text gives each setting that a folder leaves out.
            let user = UserConfig::parse("x", &text).map(|it| it.complete("", Trust::Withheld));
            assert_eq!(user, Ok(Ok((config.clone(), Vec::new()))));
            let undone = config.restrict();
            assert!(undone.len() <= 5 && config.untrusted().is_empty());
            if let Some(path) = &config.server.logging.output_path {
                assert!(config::confined_path(path).is_some());
            }
        }
        Err(error) => assert!(error.to_string().contains(config::CONFIG_FILE), "{error}"),
    }
    if let Some(path) = config::confined_path(&text) {
        assert_eq!(config::confined_path(&path).as_deref(), Some(path.as_str()));
        assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")));
    }
    if let Ok(initial_temperatures) = InitialTemperatures::parse(&text) {
        for path in text.split('"').take(64) {
            let seed = initial_temperatures.of(path);
            assert!(seed.is_none_or(|seed| (0.0..=1.0).contains(&seed)));
        }
    }
}
