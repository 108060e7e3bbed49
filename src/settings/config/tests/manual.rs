//! Tests that the manual has the keys of the settings, and their defaults.

use super::*;

#[test]
fn the_manual_names_keys_that_exist() {
    let manual = include_str!("../../../../docs/config.md");
    let rows = manual.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let keys: Vec<&str> = rows.map(|(key, _)| key).filter(|key| !key.starts_with('.')).collect();
    assert_eq!(keys.len(), 60);
    for key in keys {
        let names: Vec<&str> = key.split('.').collect();
        let wrong = names
            .iter()
            .rev()
            .fold("{\"?\": 1}".to_owned(), |inner, name| format!("{{\"{name}\": {inner}}}"));
        let error = Config::parse(&wrong).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{key}")), "{error}");
    }
}

/// A default of the manual's table as JSON: a value, or a word for a missing one.
fn documented(cell: &str) -> Option<String> {
    let cell = cell.trim().trim_matches('`');
    match cell {
        "none" | "processors" | "standard error" => None,
        "0: none" => Some("\"0\"".to_owned()),
        word if word.chars().all(|it| it.is_ascii_lowercase())
            && word != "true"
            && word != "false" =>
        {
            Some(format!("\"{word}\""))
        }
        value => Some(value.to_owned()),
    }
}

#[test]
fn the_manual_has_the_defaults() {
    let manual = include_str!("../../../../docs/config.md");
    let mut n_defaults = 0;
    for line in manual.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').collect();
        let (key, default) = (cells[1].trim().trim_matches('`'), cells.get(3));
        // Without the key, a flag or the environment decide, and `stdio` comes after these.
        if key == "server.transport" {
            continue;
        }
        let Some(value) = default.filter(|_| 5 < cells.len()).and_then(|it| documented(it)) else {
            continue;
        };
        let text = key.rsplit('.').fold(value, |inner, name| format!("{{\"{name}\": {inner}}}"));
        // Of typed memories and knowledge, what is not set is left to other sources.
        let resolved = |it: Config| {
            let memory = (it.memory.limits(), it.memory.is_archiving(), it.memory.n_backups());
            let knowledge = &it.knowledge;
            let kinds: Vec<String> = knowledge.kinds().into_iter().map(str::to_owned).collect();
            let knowledge = (kinds, knowledge.buffer_chars(), knowledge.keyword_weight());
            let consolidation = (it.consolidation.is_automatic(), it.consolidation.threshold());
            let own = AutomaticConsolidationSettings {
                automatic: None,
                threshold: None,
                ..it.consolidation
            };
            let rest = Config { memory: TypedMemorySettings::default(), consolidation: own, ..it };
            let rest = Config { knowledge: KnowledgeSettings::default(), ..rest };
            (memory, knowledge, consolidation, rest)
        };
        assert_eq!(Config::parse(&text).map(resolved), Ok(resolved(Config::default())), "{text}");
        n_defaults += 1;
    }
    assert_eq!(n_defaults, 47);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn promises_hold_for_any_file(data in proptest::collection::vec(any::<u8>(), 0..64)) {
        crate::fuzzing::config::config(&data);
    }

    #[test]
    fn promises_hold_for_any_setting(
        key in "[a-z_]{0,3}|server|redaction|logging|output_path|rescan|\\*",
        inner in "[a-z_]{0,3}|transport|listen|logging|interval|a/b|\\.\\./x",
        value in "[0-9.e-]{1,4}|\"[a-z/.0-9]{0,6}\"|\\[\\]|\\{\\}|null|true",
    ) {
        let text = format!("{{\"{key}\": {{\"{inner}\": {value}}}}}");
        crate::fuzzing::config::config(text.as_bytes());
    }
}
