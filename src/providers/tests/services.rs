//! The interface of each service, over TLS, and its faults.

use serde_json::{Value, json};

use super::service::{Reply, Seen, Service};
use super::*;

const KEY: &str = "sk-this-is-the-key-0123456789";

fn provider(service: &Service, settings: ProviderSpec, job: ProviderJob) -> ProviderClient {
    let url = settings.url.clone().unwrap_or_default();
    let settings = ProviderSpec { url: Some(service.url() + &url), ..settings };
    let certificates = Ok(Some(service.certificate.clone().into_bytes()));
    let certificates = if service.certificate.is_empty() { Ok(None) } else { certificates };
    let key = Ok(Some(ProviderApiKey::new(KEY)));
    ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap()
}

/// Asks a model of that kind, which answers with that body.
#[track_caller]
fn completed(kind: ProviderKind, answer: Value) -> (Result<String, ProviderError>, Seen) {
    let service = Service::with_tls(move |_, _| Reply::Body(200, answer.to_string()));
    let provider = provider(&service, settings(kind), ProviderJob::Completion);
    let told = provider.complete(&prompt("What?"), &at_once);
    (told, service.seen().remove(0))
}

fn body(seen: &Seen) -> Value {
    serde_json::from_str(&seen.body).unwrap()
}

#[test]
fn anthropic_is_asked_in_its_form() {
    let answer = json!({"content": [{"type": "text", "text": "[1"}, {"type": "text", "text": "]"}],
        "stop_reason": "end_turn"});
    let (told, seen) = completed(ProviderKind::Anthropic, answer);
    assert_eq!(told, Ok("[1]".to_owned()));
    assert_eq!(seen.line, "POST /v1/messages");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("authorization"), None);
    let user = json!([{"role": "user", "content": "What?"}]);
    let whole = json!({"model": "m-1", "max_tokens": 8192, "system": "Answer.", "messages": user});
    assert_eq!(body(&seen), whole);
}

#[test]
fn openai_azure_and_ollama_are_asked_in_theirs() {
    let messages = json!([{"role": "system", "content": "Answer."},
        {"role": "user", "content": "What?"}]);
    let choice = json!({"choices": [{"message": {"content": "[]"}, "finish_reason": "stop"}]});
    let (told, seen) = completed(ProviderKind::OpenAi, choice.clone());
    assert_eq!((told, seen.line.as_str()), (Ok("[]".to_owned()), "POST /chat/completions"));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(body(&seen), json!({"model": "m-1", "messages": messages}));

    let (told, seen) = completed(ProviderKind::Azure, choice);
    assert_eq!(told, Ok("[]".to_owned()));
    let path = "/openai/deployments/m-1/chat/completions?api-version=2024-10-21";
    assert_eq!(seen.line, format!("POST {path}"));
    assert_eq!(seen.header("api-key"), Some(KEY));
    assert_eq!(body(&seen), json!({"messages": messages}));

    let answer = json!({"message": {"content": "[]"}, "done_reason": "stop"});
    let (told, seen) = completed(ProviderKind::Ollama, answer);
    assert_eq!((told, seen.line.as_str()), (Ok("[]".to_owned()), "POST /api/chat"));
    let whole = json!({"model": "m-1", "stream": false, "options": {"num_ctx": 32768},
        "messages": messages});
    assert_eq!(body(&seen), whole);
}

#[test]
fn an_answer_that_ran_out_of_tokens_or_has_no_text_is_none() {
    let cut = json!({"content": [{"type": "text", "text": "["}], "stop_reason": "max_tokens"});
    for (kind, answer) in [
        (ProviderKind::Anthropic, cut),
        (ProviderKind::Anthropic, json!({"content": []})),
        (ProviderKind::OpenAi, json!({"choices": []})),
        (ProviderKind::OpenAi, json!([1])),
        (ProviderKind::Ollama, json!({"message": {"content": "["}, "done_reason": "length"})),
    ] {
        let (told, _) = completed(kind, answer);
        assert!(matches!(told, Err(ProviderError::Malformed(_))), "{kind:?}: {told:?}");
    }
}

#[test]
fn vectors_come_back_in_the_order_of_their_texts() {
    let rows = json!({"data": [{"index": 1, "embedding": [0.0, 2.0]},
        {"index": 0, "embedding": [1.0, 0.5]}]});
    let list = json!({"embeddings": [[1.0, 0.5], [0.0, 2.0]]});
    for (kind, answer, path) in [
        (ProviderKind::OpenAi, rows.clone(), "POST /embeddings"),
        (ProviderKind::Ollama, list, "POST /api/embed"),
        (
            ProviderKind::Azure,
            rows,
            "POST /openai/deployments/m-1/embeddings?api-version=2024-10-21",
        ),
    ] {
        let service = Service::with_tls(move |_, _| Reply::Body(200, answer.to_string()));
        let provider = provider(&service, settings(kind), ProviderJob::Embeddings);
        let vectors = embedded(&provider, &["a", "b"]);
        assert_eq!(vectors, Ok(vec![vec![1.0, 0.5], vec![0.0, 2.0]]), "{kind:?}");
        let seen = service.seen().remove(0);
        assert_eq!(seen.line, path);
        assert_eq!(body(&seen), json!({"model": "m-1", "input": ["a", "b"]}));
    }
}

#[test]
fn vectors_that_are_none_are_refused() {
    for rows in [
        json!([{"embedding": [1.0, 2.0]}]),
        json!([{"embedding": [1.0, 2.0]}, {"embedding": [1.0, 2.0, 3.0]}]),
        json!([{"embedding": [1.0, "x"]}, {"embedding": [1.0, 2.0]}]),
        json!([{"embedding": [0.0, 0.0]}, {"embedding": [1.0, 2.0]}]),
        json!([{"embedding": []}, {"embedding": []}]),
        json!("none"),
    ] {
        let answer = json!({"data": rows}).to_string();
        let service = Service::with_tls(move |_, _| Reply::Body(200, answer.clone()));
        let provider = provider(&service, settings(ProviderKind::OpenAi), ProviderJob::Embeddings);
        let told = embedded(&provider, &["a", "b"]);
        assert!(matches!(told, Err(ProviderError::Malformed(_))), "{rows}: {told:?}");
    }
}

#[test]
fn many_texts_are_sent_in_parts() {
    let service = Service::with_tls(|seen, _| {
        let asked: Value = serde_json::from_str(&seen.body).unwrap();
        let texts = asked["input"].as_array().unwrap();
        let rows: Vec<Value> = texts
            .iter()
            .map(|it| it.as_str().unwrap().parse::<f64>().unwrap())
            .map(|it| json!({"embedding": [it, 1.0]}))
            .collect();
        Reply::Body(200, json!({"data": rows}).to_string())
    });
    let provider = provider(&service, settings(ProviderKind::OpenAi), ProviderJob::Embeddings);
    let texts: Vec<String> = (0..150).map(|it| it.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedded(&provider, &texts).unwrap();
    assert_eq!(service.seen().len(), 3);
    assert!(vectors.iter().zip(0_u16..).all(|(it, nth)| it[0] == f32::from(nth)));
}

#[test]
fn a_question_is_sent_alone_and_once() {
    let service = Service::with_tls(|seen, _| match seen.body.contains("why") {
        true => Reply::Body(503, "{}".to_owned()),
        false => Reply::Body(200, json!({"data": [{"embedding": [1.0, 2.0]}]}).to_string()),
    });
    let provider = provider(&service, settings(ProviderKind::OpenAi), ProviderJob::Embeddings);
    assert_eq!(provider.embed_question(&scrubbed("when")), Ok(Some(vec![1.0, 2.0])));
    let told = provider.embed_question(&scrubbed("why"));
    assert!(matches!(told, Err(ProviderError::Failed(_))), "{told:?}");
    assert_eq!(service.seen().len(), 2);
}

#[test]
fn texts_are_scored_by_a_question() {
    let rows = json!([{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]);
    let answer = json!({"results": rows}).to_string();
    let service = Service::with_tls(move |_, _| Reply::Body(200, answer.clone()));
    let provider = provider(&service, settings(ProviderKind::OpenAi), ProviderJob::Reranking);
    let scores = provider.rerank(&scrubbed("q"), &[scrubbed("a"), scrubbed("b")]);
    assert_eq!(scores, Ok(vec![0.1, 0.9]));
    let whole = json!({"model": "m-1", "query": "q", "documents": ["a", "b"], "top_n": 2});
    assert_eq!(body(&service.seen()[0]), whole);
}

/// Asks a service with faults; returns the outcome, the number of requests and the waits in ms.
fn asked(
    settings: ProviderSpec,
    answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
) -> (Result<String, ProviderError>, usize, Vec<u128>) {
    let service = Service::with_tls(answer);
    let provider = provider(&service, settings, ProviderJob::Completion);
    let waits = std::cell::RefCell::new(Vec::new());
    let pause = |wait: Duration| {
        waits.borrow_mut().push(wait.as_millis());
        false
    };
    let told = provider.complete(&prompt("What?"), &pause);
    (told, service.seen().len(), waits.into_inner())
}

fn good() -> Reply {
    let answer = json!({"choices": [{"message": {"content": "[]"}}]});
    Reply::Body(200, answer.to_string())
}

#[test]
fn a_service_that_is_busy_or_fails_is_asked_again() {
    let openai = || settings(ProviderKind::OpenAi);
    let limited = || Reply::With(429, ("retry-after", "3"), "{}".to_owned());
    let told = asked(openai(), move |_, nth| if nth == 0 { limited() } else { good() });
    assert_eq!(told, (Ok("[]".to_owned()), 2, vec![3_000]));
    let broken = |status| Reply::Body(status, r#"{"error": {"message": "so sorry"}}"#.to_owned());
    let told = asked(openai(), move |_, nth| if nth < 2 { broken(503) } else { good() });
    assert_eq!(told, (Ok("[]".to_owned()), 3, vec![500, 1_000]));
    let told = asked(openai(), move |_, _| broken(500));
    let failed = ProviderError::Failed("status 500, so sorry".to_owned());
    assert_eq!(told, (Err(failed), 3, vec![500, 1_000]));
    let told = asked(openai(), |_, _| Reply::With(429, ("retry-after", "3600"), String::new()));
    let limited = ProviderError::Limited(Some(Duration::from_secs(3_600)));
    assert_eq!(told, (Err(limited), 1, vec![]));
}

#[test]
fn a_cut_answer_is_asked_for_again() {
    let told = asked(settings(ProviderKind::OpenAi), |_, nth| match (nth, good()) {
        (0, Reply::Body(_, body)) => Reply::Cut(body),
        (_, good) => good,
    });
    assert_eq!((told.0, told.1), (Ok("[]".to_owned()), 2));
    let told = asked(settings(ProviderKind::OpenAi), |_, _| Reply::Cut("{}".repeat(2_000)));
    assert!(matches!(told.0, Err(ProviderError::Cut(_))), "{told:?}");
}

#[test]
fn what_is_no_json_is_not_asked_for_again() {
    let page = Reply::Body(200, "<html>Sign in to this hotel's network</html>".to_owned());
    let told = asked(settings(ProviderKind::OpenAi), move |_, _| page.clone());
    assert!(matches!(told, (Err(ProviderError::Malformed(_)), 1, _)), "{told:?}");
}

#[test]
fn a_silent_service_is_waited_for_until_the_deadline() {
    let timeout = Duration::from_millis(150);
    let short = ProviderSpec { timeout, retries: 1, ..settings(ProviderKind::OpenAi) };
    let told = asked(short, |_, _| Reply::Silence);
    assert_eq!(told.0, Err(ProviderError::Late(timeout)));
    assert_eq!(told.1, 2);
}

#[test]
fn a_redirect_takes_neither_key_nor_text_elsewhere() {
    let other = Service::plain(|_, _| good());
    let to: &'static str = Box::leak(other.url().into_boxed_str());
    let told = asked(settings(ProviderKind::OpenAi), move |_, _| {
        Reply::With(307, ("location", to), String::new())
    });
    assert!(
        matches!(&told.0, Err(ProviderError::Refused(why)) if why.contains("final")),
        "{told:?}"
    );
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let told = asked(settings(ProviderKind::OpenAi), |_, _| {
        Reply::Body(200, " ".repeat(33 * 1024 * 1024))
    });
    assert!(matches!(told, (Err(ProviderError::TooLarge(_)), 1, _)), "{:?}", told.0);
}

#[test]
fn an_unknown_certificate_is_refused_and_told_from_one_that_is_set() {
    let service = Service::with_tls(|_, _| good());
    let parts = |certificates| {
        let url = Some(service.url());
        let settings = ProviderSpec { url, ..settings(ProviderKind::OpenAi) };
        ProviderConfig { job: ProviderJob::Completion, settings, key: Ok(None), certificates }
    };
    let provider = ProviderClient::new(parts(Ok(None))).unwrap();
    let error = provider.complete(&prompt("What?"), &at_once).unwrap_err();
    assert!(matches!(&error, ProviderError::Unusable(why) if why.contains("ca_file")), "{error}");
    assert_eq!(service.seen().len(), 0, "nothing was sent");
    let set = ProviderClient::new(parts(Ok(Some(service.certificate.clone().into())))).unwrap();
    assert_eq!(set.complete(&prompt("What?"), &at_once), Ok("[]".to_owned()));
    let none = ProviderClient::new(parts(Ok(Some(b"no PEM".to_vec())))).unwrap();
    let error = none.complete(&prompt("What?"), &at_once).unwrap_err();
    assert_eq!(error.to_string(), "`ca_file` has no certificate in PEM");
}

#[test]
fn a_service_that_repeats_the_key_does_not_make_us_repeat_it() {
    let told = asked(settings(ProviderKind::OpenAi), |seen, _| {
        let key = seen.header("authorization").unwrap();
        let said = json!({"error": {"message": format!("Incorrect API key: {key}")}});
        Reply::Body(401, said.to_string())
    });
    let error = told.0.unwrap_err().to_string();
    assert_eq!(
        error,
        "it refused the request: status 401, Incorrect API key: Bearer «key»; check its key"
    );
    let service = Service::plain(|_, _| good());
    let provider = provider(&service, settings(ProviderKind::OpenAi), ProviderJob::Completion);
    assert!(!format!("{provider:?}").contains(KEY));
}

#[test]
fn a_service_that_wants_a_key_is_told_of_as_one_that_got_none() {
    let service = Service::plain(|_, _| Reply::Body(401, "{}".to_owned()));
    let settings = ProviderSpec { url: Some(service.url()), ..settings(ProviderKind::Anthropic) };
    let (job, key, certificates) = (ProviderJob::Completion, Ok(None), Ok(None));
    let without = ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap();
    let error = without.complete(&prompt("What?"), &at_once).unwrap_err().to_string();
    assert!(error.contains("no key was sent: name its place with `key_env`"), "{error}");
}

#[test]
fn reaching_a_service_makes_no_model_write() {
    for (kind, path) in [
        (ProviderKind::Anthropic, "GET /v1/models"),
        (ProviderKind::OpenAi, "GET /models"),
        (ProviderKind::Azure, "GET /openai/models?api-version=2024-10-21"),
        (ProviderKind::Ollama, "GET /api/tags"),
    ] {
        let service = Service::with_tls(|_, _| Reply::Body(200, "{}".to_owned()));
        let provider = provider(&service, settings(kind), ProviderJob::Completion);
        assert_eq!(provider.reach(), Ok("reachable".to_owned()));
        assert_eq!(service.seen()[0].line, path);
    }
    let nobody = Service::plain(|_, _| good()).url();
    let settings = ProviderSpec { url: Some(nobody), ..settings(ProviderKind::OpenAi) };
    let (job, key, certificates) = (ProviderJob::Completion, Ok(None), Ok(None));
    let gone = ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap();
    assert!(matches!(gone.reach(), Err(ProviderError::Unreachable(_))), "{:?}", gone.reach());
}
