//! Tests for relevance: it tells questions that the memory answers from those that it does not.

use super::*;

const TALK: &str = "
= talk.md
heading Talk
  text Ana: Hello Ben! How was your week?
  text Ben: Busy. I painted the old mill in blue.
  text Ana: Lovely, what made you paint that old mill?
  text Ben: My aunt owns it.
  text Ana: I went sailing with my sister.
  text Ben: Nice! Where did you go sailing?
  text Ana: Around the northern lighthouse.
  text Ben: I would be seasick.
  text Ana: The bakery closed for good.
  text Ben: That is sad.
= log.md
heading Log
  text The ledger lies in the garden.
  text The letter has no answer.
  text The engine needs oil.
  text The river is high.
  text The invoice is paid.
  text The bell rings at noon.
";

/// Returns the relevance of the best hit of a question.
fn best_relevance(outline: &str, question: &str) -> f64 {
    let hits = found(&TestDatabaseBuilder::of(outline), &label(question));
    let all = hits["hits"].as_array().into_iter().flatten();
    all.filter_map(|it| it["relevance"].as_f64()).fold(0.0, f64::max)
}

/// Checks that the first question has more relevance than each of the others.
#[track_caller]
fn check_above(answered: &str, others: &[&str]) {
    let best = best_relevance(TALK, answered);
    for other in others {
        let relevance = best_relevance(TALK, other);
        assert!(relevance < best, "{answered} {best}, {other} {relevance}");
    }
}

#[test]
fn what_another_did_has_less_relevance() {
    check_above("What mill did Ben paint in blue?", &["What mill did Ana paint in blue?"]);
    check_above("Where did Ana go sailing?", &["Where did Ben go sailing?"]);
    check_above("Who owns the mill that Ben painted?", &["Who owns the mill that Ana painted?"]);
}

#[test]
fn a_name_that_was_never_told_has_less_relevance_than_another_word() {
    check_above(
        "What mill did Ben restore in blue?",
        &["What mill did Priya paint in blue?", "What mill did Zoltan restore in blue?"],
    );
    // A word that is written small is no name.
    check_above("What mill did priya paint in blue?", &["What mill did Priya paint in blue?"]);
    check_above("What Mill Did Priya Paint In Blue?", &["What mill did Priya paint in blue?"]);
}

#[test]
fn a_turn_that_asks_tells_less_than_one_that_answers() {
    let asked = "= a.md\nheading A\n  text Ana: Is the harbour mill blue?\n  text Ben: Hm.";
    let told = asked.replace('?', ".");
    let [asked, told] = [asked, &told].map(|it| best_relevance(it, "is the harbour mill blue"));
    assert!(asked < told && told == 1.0, "{asked}, {told}");
    // A heading that asks stands above its answer.
    let heading = "= a.md\nheading Is the harbour mill blue?\n  text Yes.";
    assert_eq!(best_relevance(heading, "is the harbour mill blue"), 1.0);
}

#[test]
fn words_of_texts_beside_each_other_add_up() {
    let talk = |between: &str| {
        format!(
            "= a.md\nheading A\n  text Ana: My boat leaks.\n{between}  text Ana: I hired a welder."
        )
    };
    let far = "  text Ben: Oh.\n  text Ben: Hm.\n  text Ben: Well.\n";
    let question = "who repairs the boat, a welder?";
    let [near, apart] = [talk(""), talk(far)].map(|it| best_relevance(&it, question));
    assert!(apart < near, "{apart}, {near}");
}

const STACK: &str = "
= stack.md
heading Stack
  text The error was connection reset by peer, after the upgrade.
  text The grey whale was seen, said Bluebird.
  text Python 2.7 support ended.
  text The release went out.
= euros.md
heading Euros
  text Four thousand.
= kitchen.md
heading Kitchen
  text White.
";

/// Returns the relevance of the best hit about the stack.
fn stacked(question: &str) -> f64 {
    best_relevance(STACK, question)
}

#[test]
fn a_phrase_that_a_text_has_counts_as_its_words() {
    for [phrase, words] in [
        ["\"connection reset by peer\" nginx", "connection reset peer nginx"],
        ["nginx \"connection reset by peer\" staging", "nginx connection reset peer staging"],
        ["Who owns \"Bluebird\"?", "who owns bluebird?"],
        ["\"Bluebird\" deadline", "bluebird deadline"],
        ["Blueb* deadline", "bluebird deadline"],
        ["why connec* nginx staging", "why connection nginx staging"],
    ] {
        assert!((stacked(phrase) - stacked(words)).abs() < 0.02, "{phrase}");
        assert!(0.2 < stacked(phrase), "{phrase}");
    }
}

#[test]
fn a_phrase_that_no_text_has_lowers_relevance() {
    for question in ["\"purple whale\" release", "zebr* release", "release 9.8.7", "release plan-b"]
    {
        let relevance = stacked(question);
        assert!((0.1..0.6).contains(&relevance), "{question} {relevance}");
    }
    assert!(stacked("Is Python 3.9 support there?") < 0.7);
    assert_eq!(stacked("Is Python 2.7 support there?"), 1.0);
}

#[test]
fn the_words_of_a_phrase_that_nothing_has_are_named() {
    let reader = TestDatabaseBuilder::of(STACK);
    let narrow = NodeFilter { node_type: Some(NodeType::Heading), ..NodeFilter::default() };
    for filter in [NodeFilter::default(), narrow] {
        check(
            &reader,
            &SearchQuery { filter, ..label("\"kitchen euros\"") },
            None,
            expect!["nothing here answers that; nearest words: kitchen, euros"],
        );
    }
}

const SPACELESS: &str = "
= 备忘.md
heading 备忘
  text 我喜欢在北京吃烤鸭。
  text 明天去上海开会。
  text 房东的电话是12345。
= メモ.md
heading メモ
  text 東京で来週会議がある。
  text 鍵は冷蔵庫の上にある。
= 서울.md
heading Trip
  text Hotel near the station.
= ガイド.md
heading Trip
  text Mika leads.
= team.md
heading Team
  text Ana is on call.
";

#[test]
fn a_question_without_spaces_finds_what_shares_a_word_with_it() {
    let reader = TestDatabaseBuilder::of(SPACELESS);
    for (question, answer) in [
        ("北京", "我喜欢在北京吃烤鸭。"),
        ("北京有什么好吃的", "我喜欢在北京吃烤鸭。"),
        ("你能告诉我北京的天气怎么样吗", "我喜欢在北京吃烤鸭。"),
        ("上海会议", "明天去上海开会。"),
        ("什么时候去上海", "明天去上海开会。"),
        ("房东是谁", "房东的电话是12345。"),
        ("怎么联系房东呢", "房东的电话是12345。"),
        ("東京に行くのはいつですか", "東京で来週会議がある。"),
        ("鍵はどこですか", "鍵は冷蔵庫の上にある。"),
        ("冷蔵庫はどこ", "鍵は冷蔵庫の上にある。"),
    ] {
        let hits = found(&reader, &label(question));
        assert_eq!(hits["hits"][0]["label"], answer, "{question}");
        assert!(0.2 < hits["hits"][0]["relevance"].as_f64().unwrap(), "{question}");
    }
    for question in ["猫叫什么名字", "猫の名前はなんですか"] {
        let answer = search(&reader, &label(question)).unwrap().text;
        assert!(no_hits::is_no_answer(&answer), "{question}: {answer}");
    }
}

#[test]
fn a_file_is_found_by_its_name_in_a_script_without_spaces() {
    let in_parts = "= \u{1109}\u{1165}\u{110b}\u{116e}\u{11af}.md\nheading Trip\n  text Hotel.";
    for (outline, name) in [(SPACELESS, "서울"), (SPACELESS, "ガイド"), (in_parts, "서울")] {
        let hits = found(&TestDatabaseBuilder::of(outline), &label(name));
        assert_eq!(hits["hits"][0]["relevance"], 1.0, "{name}");
    }
}
