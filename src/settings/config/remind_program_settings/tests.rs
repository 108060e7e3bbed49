use super::*;
use crate::settings::config::{AutomaticConsolidationSettings, KnowledgeSettings, UserConfig};

/// Returns the row of the manual for a setting.
fn row(it: &RemindKey) -> String {
    let code = |text: &str| match text.starts_with("providers.") {
        true => format!("`{text}`"),
        false => text.to_owned(),
    };
    let ours = match it.ours {
        Setting(name) => format!("`{name}`"),
        Provider(part) => format!("{}, where taken over", code(part)),
        Nothing(why) => format!("not followed: {why}"),
    };
    let variable = it.variable.map(|it| format!("`{it}`")).unwrap_or_default();
    format!("| `{}` | {variable} | {ours} |\n", it.key)
}

#[test]
fn the_manual_lists_every_setting_of_remind() {
    let manual = include_str!("../../../../docs/knowledge.md");
    let rows: String = REMIND_KEYS.iter().map(row).collect();
    assert!(manual.contains(&rows), "docs/knowledge.md must have:\n{rows}");
}

#[test]
fn every_setting_that_has_one_here_is_followed() {
    let default = KnowledgeSettings::default();
    for it in REMIND_KEYS.iter().filter(|it| matches!(it.ours, Setting(_))) {
        let (text, value) = match it.key {
            "consolidation_threshold" => ("7", json!(7)),
            "auto_consolidate" => ("false", json!(false)),
            "ingest_buffer_size" => ("700", json!(700)),
            "hybrid_keyword_weight" => ("0.7", json!(0.7)),
            "episode_types" => ("ritual, chant", json!(["ritual", "chant"])),
            other => panic!("how is `{other}` set?"),
        };
        let named = |name: &str| (Some(name) == it.variable).then(|| text.to_owned());
        let set = KnowledgeSettings::of_environment(named).unwrap();
        assert_ne!(set, default, "{}", it.key);
        let file = json!({it.key: value}).to_string();
        assert_eq!(KnowledgeSettings::of_remind(&file), (set.clone(), Vec::new()), "{}", it.key);
        assert_eq!(default.clone().or(&set), set);
    }
}

#[test]
fn the_environment_counts_before_our_file_and_that_before_the_file_of_remind() {
    let of = |threshold, automatic| KnowledgeSettings {
        consolidation_threshold: threshold,
        auto_consolidate: automatic,
        ..KnowledgeSettings::default()
    };
    let own = AutomaticConsolidationSettings {
        threshold: Some(6),
        ..AutomaticConsolidationSettings::default()
    };
    let between = own.between(&of(Some(5), None), &of(Some(7), Some(false)));
    assert_eq!((between.threshold(), between.is_automatic()), (5, false));
    let between = own.between(&of(None, Some(true)), &of(Some(7), Some(false)));
    assert_eq!((between.threshold(), between.is_automatic()), (6, true));
    assert_eq!(of(Some(7), Some(false)).of_folder(), KnowledgeSettings::default());
    for (name, text, why) in [
        ("CONSOLIDATION_THRESHOLD", "0", "must be a whole number from 1 to 10000, not `0`"),
        ("CONSOLIDATION_THRESHOLD", "few", "must be a number, not `few`"),
        ("AUTO_CONSOLIDATE", "maybe", "must be true or false, not `maybe`"),
    ] {
        let named = |it: &str| (it == name).then(|| text.to_owned());
        let error = KnowledgeSettings::of_environment(named).unwrap_err();
        assert_eq!(error, format!("`{name}` {why}"));
    }
    let (settings, wrong) = KnowledgeSettings::of_remind(
        r#"{"consolidation_threshold": 2.5, "auto_consolidate": "no"}"#,
    );
    assert_eq!(settings, KnowledgeSettings::default());
    assert_eq!(
        wrong,
        [
            "`consolidation_threshold` must be a whole number from 1 to 10000, not `2.5`",
            "`auto_consolidate` must be true or false",
        ]
    );
}

/// Returns the providers of a user's file, with variables and a file of Remind.
fn providers(own: &str, variables: &[(&str, &str)], file: Value) -> Result<String, String> {
    let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
    let Value::Object(file) = file else { panic!("an object") };
    let sources = || RemindUserConfig { variable: &variable, file };
    let user = UserConfig::parse_with("config.json", own, sources).map_err(|it| it.to_string())?;
    let settings = &user.config().providers;
    let all = [&settings.completion, &settings.embeddings, &settings.reranking];
    let shown = all.into_iter().flatten().map(|it| {
        let url = it.url.as_deref().unwrap_or("-");
        format!("{} {} {url} {:?}", it.kind.name(), it.model, it.dimensions)
    });
    Ok(shown.collect::<Vec<_>>().join("; "))
}

#[test]
fn providers_of_remind_are_taken_over_only_where_that_is_asked_for() {
    let named = [("LLM_PROVIDER", "ollama"), ("EMBEDDING_PROVIDER", "openai")];
    let asked = r#"{"providers": {"remind": true}}"#;
    assert_eq!(providers("{}", &named, json!({"llm_provider": "ollama"})), Ok(String::new()));
    assert_eq!(
        providers(r#"{"providers": {"remind": false}}"#, &named, json!({})),
        Ok(String::new())
    );
    assert_eq!(
        providers(asked, &named, json!({})),
        Ok("ollama llama3.2 - None; openai text-embedding-3-small - None".to_owned())
    );
    assert_eq!(providers(asked, &[], json!({})), Ok(String::new()), "no default is taken over");
    let own =
        r#"{"providers": {"remind": true, "completion": {"kind": "anthropic", "model": "m"}}}"#;
    assert_eq!(providers(own, &named[..1], json!({})), Ok("anthropic m - None".to_owned()));
    let variables =
        [("AZURE_OPENAI_API_BASE_URL", "https://x"), ("AZURE_OPENAI_EMBEDDING_SIZE", "256")];
    let file = json!({
        "llm_provider": "azure_openai",
        "embedding_provider": "azure_openai",
        "azure_openai": {"base_url": "https://y", "deployment_name": "d",
            "embedding_deployment_name": "e", "api_key": "sk-1"},
    });
    assert_eq!(
        providers(asked, &variables, file),
        Ok("azure d https://x None; azure e https://x Some(256)".to_owned()),
        "the environment counts before the file"
    );
}

#[test]
fn what_is_no_provider_is_named() {
    let asked = r#"{"providers": {"remind": true}}"#;
    let error = |variable: (&str, &str)| providers(asked, &[variable], json!({})).unwrap_err();
    assert_eq!(
        error(("LLM_PROVIDER", "gemini")),
        "`providers.remind` in config.json: `llm_provider` is \"gemini\"; known are anthropic, \
         openai, azure_openai, ollama"
    );
    assert!(error(("EMBEDDING_PROVIDER", "anthropic")).contains("`embedding_provider` is"));
    assert!(error(("LLM_PROVIDER", "azure_openai")).contains("must name a model"));
}
