//! Consolidation by a model that is a function here.

use std::cell::RefCell;

use super::*;
use crate::memory::knowledge::consolidate::ConsolidationError;
use crate::providers::{ModelPrompt, ProviderError, Providers, wait_out};
use crate::settings::config::UserConfig;
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions};

fn worksheet(case: &Case) -> Value {
    case.memory.worksheet(&ConsolidateRequest::of_all()).unwrap()
}

/// Consolidates by a model that gives these answers; returns the outcome and what it was asked.
fn consolidated(
    case: &Case,
    answers: &[String],
) -> (Result<Value, ConsolidationError>, Vec<String>) {
    let asked = RefCell::new(Vec::new());
    let reasoner = |prompt: &ModelPrompt| {
        let mut asked = asked.borrow_mut();
        asked.push(prompt.user.as_str().to_owned());
        let answer = answers.get(asked.len() - 1).cloned();
        answer.ok_or_else(|| ProviderError::Failed("status 500".to_owned()))
    };
    let outcome = case.memory.consolidate_sheet(&worksheet(case), "a model", &reasoner);
    (outcome, asked.into_inner())
}

fn three(case: &Case) -> [String; 3] {
    ["Retrying at once failed.", "Retrying at once failed again.", "Pauses helped."]
        .map(|it| id(&case.remember(json!({"content": it})), 0))
}

fn pending(case: &Case) -> u64 {
    case.memory.read::<_, crate::store::StoreError>(|it| it.pending_episodes(None)).unwrap()
}

#[test]
fn what_a_model_answers_is_applied_in_one_snapshot_that_can_be_undone() {
    let case = Case::new();
    let [first, second, _] = three(&case);
    let before = case.tree();
    let answer = json!({"operations": [{"op": "concept", "as": "it", "title": "Retries need pauses",
        "summary": "Retrying at once fails.", "from": [first, second]}]});
    let (outcome, asked) = consolidated(&case, &[format!("```json\n{answer}\n```")]);
    let report = outcome.unwrap();
    assert_eq!(report["by"], "a model");
    assert_eq!(
        (&report["episodes_processed"], &report["pending"]["total"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains("Pauses helped."), "{}", asked[0]);
    assert!(case.tree().contains("Retries need pauses"));
    let snapshot = report["snapshot"].as_i64().unwrap();
    case.memory.rollback(snapshot - 1, true).unwrap();
    assert_eq!((pending(&case), case.tree()), (3, before));
}

#[test]
fn a_model_is_told_its_mistake_once_and_may_answer_again() {
    let case = Case::new();
    three(&case);
    let wrong = json!([{"op": "pin", "id": "AAAAAAAAAAA"}]).to_string();
    let (outcome, asked) = consolidated(&case, &[wrong.clone(), "[]".to_owned()]);
    assert_eq!(outcome.unwrap()["pending"]["total"], 0);
    let told: Value = serde_json::from_str(&asked[1]).unwrap();
    assert_eq!(told["refused"]["errors"][0]["op"], 0);
    assert!(told["refused"]["answer"].as_str().unwrap().contains("AAAAAAAAAAA"));
    assert_eq!(told["episodes"].as_array().unwrap().len(), 3);

    let case = Case::new();
    three(&case);
    let (outcome, asked) = consolidated(&case, &[wrong.clone(), wrong]);
    assert!(matches!(outcome, Err(ConsolidationError::Refused(_))));
    assert_eq!((asked.len(), pending(&case)), (2, 3));
}

#[test]
fn a_failure_of_any_kind_changes_nothing() {
    let case = Case::new();
    three(&case);
    let before = case.memory.stats().unwrap().text;
    for answer in ["I would rather not.", "{\"operations\": 7}", ""] {
        let (outcome, _) = consolidated(&case, &[answer.to_owned()]);
        assert!(matches!(outcome, Err(ConsolidationError::Answer(_))), "{answer}");
    }
    let (outcome, _) = consolidated(&case, &[]);
    assert!(matches!(outcome, Err(ConsolidationError::Provider(_))));
    assert_eq!((pending(&case), case.memory.stats().unwrap().text), (3, before));
}

#[test]
fn an_episode_that_changed_meanwhile_is_not_overwritten() {
    let case = Case::new();
    let [first, ..] = three(&case);
    let sheet = worksheet(&case);
    let edit =
        json!({"operations": [{"op": "update", "id": first, "content": "It was the disk."}]});
    let Value::Object(edit) = edit else { unreachable!() };
    case.memory.apply(&ApplyRequest::parse(&edit).unwrap()).unwrap();
    let outcome = case.memory.consolidate_sheet(&sheet, "a model", &|_| Ok("[]".to_owned()));
    let error = outcome.unwrap_err();
    assert!(matches!(error, ConsolidationError::Refused(_)), "{error}");
    assert_eq!(pending(&case), 3);
}

#[test]
fn nothing_is_sent_that_redaction_would_mask() {
    let Case { memory, clock, folder } = Case::new();
    let content = "The ticket TICKET-4711 is about retries.";
    let Value::Object(args) = json!({"content": content}) else { unreachable!() };
    memory.remember(RememberRequest::parse(&args).unwrap()).unwrap();
    // The kind became known after the episode was kept.
    let own = r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "TICKET-\\d+"}]}}"#;
    let user = UserConfig::parse("config.json", own).unwrap();
    let options = OperatorOptions { user, ..OperatorOptions::default() };
    let memory = memory.with_workspace(LiveRootSettings::without_folder(options).unwrap());
    let case = Case { memory, clock, folder };
    assert!(worksheet(&case).to_string().contains("TICKET-4711"));
    let (outcome, asked) = consolidated(&case, &["[]".to_owned()]);
    outcome.unwrap();
    assert!(!asked[0].contains("4711"), "{}", asked[0]);
    assert!(asked[0].contains("«redacted:ticket»"));
}

#[test]
fn without_a_provider_the_worksheet_is_handed_out() {
    let case = Case::new();
    three(&case);
    let sheet = case.memory.consolidate(&ConsolidateRequest::of_all(), &wait_out).unwrap();
    assert_eq!(sheet, worksheet(&case));
    assert_eq!(sheet["episodes"].as_array().unwrap().len(), 3);
    assert!(Providers::default().all().next().is_none());
}

#[cfg(feature = "providers")]
mod by_programs {
    use super::*;
    use crate::providers::shell_provider_testing;

    #[test]
    fn a_program_consolidates() {
        let case = Case::new();
        three(&case);
        let completion = Some(shell_provider_testing::program("cat >/dev/null; echo '[]'"));
        let providers = Providers { completion, ..Providers::default() };
        let Case { memory, clock, folder } = case;
        let case = Case { memory: memory.with_providers(providers), clock, folder };
        let report = case.memory.consolidate(&ConsolidateRequest::of_all(), &wait_out).unwrap();
        assert_eq!(report["by"], "command `sh`");
        assert_eq!(pending(&case), 0);
    }

    #[test]
    fn a_program_that_fails_leaves_the_worksheet_and_says_why() {
        let case = Case::new();
        three(&case);
        let completion = Some(shell_provider_testing::program("echo 'no credit' >&2; exit 1"));
        let providers = Providers { completion, ..Providers::default() };
        let Case { memory, clock, folder } = case;
        let case = Case { memory: memory.with_providers(providers), clock, folder };
        let sheet = case.memory.consolidate(&ConsolidateRequest::of_all(), &wait_out).unwrap();
        assert_eq!(
            sheet["note"],
            "command `sh` did not consolidate: it failed: exit status: 1: no credit; answer it \
             yourself"
        );
        assert_eq!(sheet["episodes"].as_array().unwrap().len(), 3);
        assert_eq!(pending(&case), 3);
    }
}
