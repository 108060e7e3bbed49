//! Sixty questions of six families to one memory: exact words, other forms of words, neighbours,
//! facts, replaced concepts, and subjects that the memory does not have.

use super::*;

/// A subject with the questions about it.
struct Subject {
    episode: &'static str,
    exact: &'static str,
    forms: &'static str,
    concept: (&'static str, &'static str),
    neighbour: (&'static str, &'static str),
    /// Asks for the concept, without a word of its neighbour.
    towards: &'static str,
    /// Subject, attribute, the statement before and the one now.
    fact: (&'static str, &'static str, &'static str, &'static str),
    asked: &'static str,
    /// A concept that was replaced, by which one, and a question in its words.
    stale: (&'static str, &'static str, &'static str),
}

const SUBJECTS: &[Subject] = &[
    Subject {
        episode: "The payment gateway timed out twice during the nightly settlement.",
        exact: "payment gateway nightly settlement",
        forms: "gateways timing out at settlements",
        concept: ("Exponential backoff", "Wait longer after each failed attempt."),
        neighbour: ("Jitter", "Randomize every pause."),
        towards: "exponential backoff",
        fact: (
            "gateway",
            "timeout",
            "The gateway gives up after 30 s.",
            "The gateway gives up after 45 s.",
        ),
        asked: "when does the gateway give up",
        stale: ("Three immediate retries", "Idempotency keys", "three immediate retries"),
    },
    Subject {
        episode: "Ana prefers small pull requests that one person can review before lunch.",
        exact: "Ana small pull requests",
        forms: "who preferred a smaller pull request",
        concept: ("Review culture", "Comments are questions, and authors merge."),
        neighbour: ("Pairing sessions", "Two people, one keyboard, ninety minutes."),
        towards: "review culture authors",
        fact: (
            "main branch",
            "approvals",
            "The main branch needs one approval.",
            "The main branch needs two approvals.",
        ),
        asked: "how many approvals does the main branch need",
        stale: ("Squash everything", "Linear history by rebase", "squash everything"),
    },
    Subject {
        episode: "The search index grew past the disk of the old server on Monday.",
        exact: "search index disk Monday",
        forms: "indexes growing past disks",
        concept: ("Shard by tenant", "Each customer has a partition of their own."),
        neighbour: ("Hot partitions", "One loud customer slows the rest."),
        towards: "shard by tenant",
        fact: (
            "search cluster",
            "shards",
            "The search cluster has 4 shards.",
            "The search cluster has 12 shards.",
        ),
        asked: "shards of the search cluster",
        stale: ("Reindex on Sundays", "Rolling reindex", "reindex on Sundays"),
    },
    Subject {
        episode: "We decided to sign webhooks with Ed25519 instead of shared secrets.",
        exact: "sign webhooks Ed25519",
        forms: "signing a webhook without a shared secret",
        concept: ("Asymmetric signatures", "Verifiers hold no private material."),
        neighbour: ("Key rotation", "Publish the next public half early."),
        towards: "asymmetric signatures verifiers",
        fact: (
            "webhooks",
            "algorithm",
            "Webhooks are signed with HMAC.",
            "Webhooks are signed with Ed25519.",
        ),
        asked: "algorithm that webhooks are signed with",
        stale: ("Secrets in headers", "Signed bodies", "secrets in headers"),
    },
    Subject {
        episode: "Turbine seven vibrated above its limit whenever the northern wind gusted.",
        exact: "turbine seven vibrated wind",
        forms: "vibrations of turbines in gusts",
        concept: ("Damping rings", "Rubber between bearing and housing."),
        neighbour: ("Resonance", "A small push at the right moment."),
        towards: "damping rings bearing",
        fact: (
            "turbine seven",
            "limit",
            "The limit of turbine seven is 11 mm/s.",
            "The limit of turbine seven is 7 mm/s.",
        ),
        asked: "limit of turbine seven",
        stale: ("Stop above gale force", "Feather the blades early", "stop above gale force"),
    },
    Subject {
        episode: "The bakery's sourdough collapsed because the starter had been fed too late.",
        exact: "sourdough collapsed starter",
        forms: "feeding a sourdough starter",
        concept: ("Warm fermentation", "Twenty-six degrees double the speed."),
        neighbour: ("Sour flavour", "Acetic notes need a cold night."),
        towards: "warm fermentation speed",
        fact: (
            "oven",
            "temperature",
            "The oven bakes at 220 degrees.",
            "The oven bakes at 245 degrees.",
        ),
        asked: "at which temperature does the oven bake",
        stale: ("Knead for half an hour", "Stretch and fold", "knead for half an hour"),
    },
    Subject {
        episode: "Migration forty-two locked the orders table for eleven minutes.",
        exact: "migration locked orders table",
        forms: "migrations that lock a table",
        concept: ("Expand and contract", "Add first, remove in a later release."),
        neighbour: ("Feature flags", "Deploying is not releasing."),
        towards: "expand and contract",
        fact: (
            "orders table",
            "rows",
            "The orders table has 3 million rows.",
            "The orders table has 9 million rows.",
        ),
        asked: "rows in the orders table",
        stale: ("Migrate at midnight", "Online schema change", "migrate at midnight"),
    },
    Subject {
        episode: "The camera calibration drifted after the drone had crossed the volcano rim.",
        exact: "camera calibration drone",
        forms: "calibrating drifting cameras",
        concept: ("Thermal expansion", "Lenses breathe as they warm."),
        neighbour: ("Reference targets", "Printed checkerboards near the pad."),
        towards: "thermal expansion lenses",
        fact: (
            "drone",
            "battery",
            "A battery of the drone lasts 22 minutes.",
            "A battery of the drone lasts 31 minutes.",
        ),
        asked: "how long does a battery of the drone last",
        stale: ("Calibrate once a year", "Calibrate before each flight", "calibrate once a year"),
    },
    Subject {
        episode: "Customers abandoned the checkout when shipping costs appeared on the last page.",
        exact: "customers abandoned checkout shipping costs",
        forms: "abandoning the checkout over a shipping cost",
        concept: ("Early totals", "Show what it amounts to before the address."),
        neighbour: ("Trust badges", "Logos calm nobody."),
        towards: "early totals address",
        fact: (
            "free shipping",
            "threshold",
            "Free shipping begins at 80 euros.",
            "Free shipping begins at 50 euros.",
        ),
        asked: "where does free shipping begin",
        stale: ("Mandatory accounts", "Guest orders", "mandatory accounts"),
    },
    Subject {
        episode: "The orchard lost a third of its blossom to the frost of late April.",
        exact: "orchard blossom frost April",
        forms: "frosts in the orchards",
        concept: ("Sprinkler shield", "Freezing water gives off heat."),
        neighbour: ("Wind machines", "Pull the inversion down."),
        towards: "sprinkler shield water",
        fact: ("orchard", "trees", "The orchard has 400 trees.", "The orchard has 520 trees."),
        asked: "trees of the orchard",
        stale: ("Prune in December", "Prune after the frost", "prune in December"),
    },
];

/// Questions about what the memory does not have, some with a word that it has.
const STRANGE: &[&str] = &[
    "how do plate tectonics shape submarine canyons",
    "medieval guild regulations for goldsmiths in Florence",
    "which enzyme splits lactose in the small intestine",
    "rules of offside in women's football tournaments",
    "baroque organ pipes tuned to meantone temperament",
    "visa requirements for volunteers travelling through Bhutan",
    "how many moons orbit the dwarf planet Haumea",
    "knitting patterns for Icelandic yoke sweaters",
    "grammar of ergative verbs among Basque dialects",
    "harmonic minor scales over a diminished seventh chord",
];

fn filled() -> Case {
    let case = Case::new();
    for it in SUBJECTS {
        case.remember(json!({"content": it.episode}));
        let (subject, attribute, before, now) = it.fact;
        for (text, from) in [(before, "2026-01-01"), (now, "2026-06-01")] {
            case.remember(json!({
                "content": text, "kind": "fact", "subject": subject, "attribute": attribute,
                "valid_from": from, "supersede": true,
            }));
        }
        let concept = |name: &str, title: &str, summary: &str| {
            json!({"op": "concept", "as": name, "title": title, "summary": summary,
                   "confidence": 0.7})
        };
        let (stale, fresh, _) = it.stale;
        case.apply(json!([
            concept("one", it.concept.0, it.concept.1),
            concept("other", it.neighbour.0, it.neighbour.1),
            {"op": "link", "from": "$one", "to": "$other", "type": "implies", "strength": 0.7},
            concept("stale", stale, "It was the rule for years."),
            concept("fresh", fresh, "It is the rule today."),
            {"op": "supersede", "old": "$stale", "new": "$fresh"},
        ]));
    }
    case
}

/// Returns everything that an answer shows, best first: titles, and the facts below them.
fn shown(case: &Case, question: &str) -> Vec<String> {
    let answer = case.recall(json!({"query": question}));
    let mut shown = Vec::new();
    for item in answer["items"].as_array().unwrap() {
        shown.push(item["title"].as_str().unwrap().to_owned());
        shown.push(item["text"].as_str().unwrap().to_owned());
        let facts = item["facts"].as_array().into_iter().flatten();
        shown.extend(facts.map(|it| it["text"].as_str().unwrap().to_owned()));
    }
    shown
}

#[test]
fn nine_of_ten_questions_are_answered_and_nine_of_ten_strange_ones_are_not() {
    let case = filled();
    let mut missed = Vec::new();
    let mut ask = |question: &'static str, wanted: &str, gone: &str| {
        let shown = shown(&case, question);
        if !shown.iter().any(|it| it == wanted) {
            missed.push((question, shown.clone()));
        }
        assert!(!shown.iter().any(|it| it == gone), "{question}: {gone} was replaced: {shown:#?}");
    };
    for it in SUBJECTS {
        ask(it.exact, it.episode, it.fact.2);
        ask(it.forms, it.episode, it.fact.2);
        ask(it.towards, it.neighbour.0, it.stale.0);
        ask(it.asked, it.fact.3, it.fact.2);
        ask(it.stale.2, it.stale.1, it.stale.0);
    }
    let n_asked = 5 * SUBJECTS.len();
    assert_eq!((n_asked, STRANGE.len()), (50, 10));
    assert!(missed.len() * 10 <= n_asked, "{missed:#?}");
    let answered: Vec<_> = STRANGE.iter().map(|it| (it, shown(&case, it))).collect();
    let answered: Vec<_> = answered.into_iter().filter(|it| !it.1.is_empty()).collect();
    assert!(answered.len() * 10 <= STRANGE.len(), "{answered:#?}");
}

#[test]
fn what_replaced_something_is_ahead_of_it_where_both_are_asked_for() {
    let case = filled();
    for it in SUBJECTS {
        let (stale, fresh, question) = it.stale;
        let titles = case.titles(json!({"query": question, "include": ["superseded"]}));
        let at = |title: &str| titles.iter().position(|it| it == title);
        assert!(at(fresh).is_some() && at(fresh) < at(stale), "{question}: {titles:?}");
    }
}
