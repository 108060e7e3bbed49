use super::*;
use crate::text::tokens;

impl Case {
    /// Recalls within a budget, which the answer keeps.
    #[track_caller]
    fn recall_within(&self, budget: u32, mut args: Value) -> Value {
        args["budget"] = budget.into();
        let answer = self.recall(args);
        let n_tokens = tokens::count(&answer.to_string());
        assert!(n_tokens <= budget, "{n_tokens} of {budget}: {answer}");
        answer
    }

    fn add_herons(&self, big: &[usize], n_small: usize) {
        let big = big.iter().map(|n_times| {
            let title = format!("Heron of {n_times}");
            json!({"op": "concept", "title": title, "summary": "A heron is a bird. ".repeat(*n_times)})
        });
        let small = (0..n_small).map(|nth| {
            let title = format!("Heron small {nth}");
            json!({"op": "concept", "title": title, "summary": format!("The bird number {nth}.")})
        });
        self.apply(big.chain(small).collect());
    }
}

fn titles_of(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap();
    items.iter().map(|it| it["title"].as_str().unwrap()).collect()
}

#[test]
fn the_best_hit_is_cut_where_it_does_not_fit() {
    let case = Case::new();
    let lynx = id(&case.remember(json!({"content": "The lynx sleeps. ".repeat(3_000)})), 0);
    let advice = format!("MemoryFetch {lynx} shows all; a larger `budget` shows more");
    for budget in [200, 500, 2_000] {
        let answer = case.recall_within(budget, json!({"query": "lynx"}));
        let item = &answer["items"][0];
        assert_eq!((&item["id"], &item["cut"]), (&json!(lynx), &json!(advice)));
        assert!(item["text"].as_str().unwrap().ends_with("The lynx sleeps."), "{answer}");
        assert_eq!(answer["left_out"], 0);
    }
    let answer = case.recall_within(100, json!({"query": "lynx"}));
    assert_eq!(
        (&answer["items"][0]["id"], &answer["items"][0]["cut"]),
        (&json!(lynx), &json!(advice))
    );
}

#[test]
fn the_least_of_the_best_hit_fits_beside_a_hint() {
    let case = Case::new();
    let title = "The lynx of the northern woods ".repeat(6);
    for nth in 0..20 {
        let content = format!("{nth} {}", "The lynx sleeps. ".repeat(300));
        case.remember(json!({"title": title.trim(), "content": content}));
    }
    let answer = case.recall_within(100, json!({"query": "lynx"}));
    assert_eq!(answer["items"].as_array().unwrap().len(), 1, "{answer}");
    assert!(answer["items"][0]["cut"].as_str().unwrap().starts_with("MemoryFetch "), "{answer}");
}

#[test]
fn a_cluster_shows_the_facts_that_match_and_fit() {
    let case = Case::new();
    let fact = |nth: usize| {
        let content = format!(
            "setting number{nth} of the billing service has the value v{nth} which was decided by \
             the team in the meeting of that week and written down in the protocol"
        );
        json!({"content": content, "kind": "fact", "subject": "billing",
            "attribute": format!("number{nth}")})
    };
    case.remember(json!({"items": (0..30).map(fact).collect::<Vec<Value>>()}));
    let answer = case.recall_within(500, json!({"query": "billing number17", "episodes": 0}));
    let facts = answer["items"][0]["facts"].as_array().unwrap();
    assert!(facts[0]["text"].as_str().unwrap().contains("number17"), "{answer}");
    assert_eq!(answer["items"][0]["more_facts"], 30 - facts.len());
}

#[test]
fn places_of_what_does_not_fit_go_to_what_does() {
    let case = Case::new();
    case.add_herons(&[700, 600], 6);
    let answer = case.recall_within(2_000, json!({"query": "heron", "k": 3}));
    let titles = titles_of(&answer);
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert_eq!(titles.iter().filter(|it| it.starts_with("Heron small")).count(), 2, "{titles:?}");
    assert_eq!(answer["left_out"], 1);
    let whole = case.recall_within(50_000, json!({"query": "heron", "k": 3}));
    assert_eq!((titles_of(&whole).len(), &whole["left_out"]), (3, &json!(0)));
    assert_eq!(whole["items"][0].get("cut"), None);
}

#[test]
fn a_bootstrap_keeps_its_budget() {
    let case = Case::new();
    let concept = |nth: usize| {
        let summary = format!("{{[\"{nth}\"]}} … :: \u{1f980} {}", "x-".repeat(nth % 90));
        json!({"op": "concept", "title": format!("\"{nth}\""), "summary": summary})
    };
    case.apply((0..300).map(concept).collect());
    for budget in (200..12_000).step_by(331) {
        let document = case.memory.read(|it| bootstrap_document(it, budget)).unwrap();
        let n_tokens = tokens::count(&document.to_string());
        // What is always shown may need more than the least budget.
        assert!(n_tokens <= budget || document["concepts"] == json!([]), "{n_tokens} of {budget}");
    }
}
