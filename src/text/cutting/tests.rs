use super::*;

#[test]
fn prose_ends_with_its_last_sentence() {
    for (text, cut) in [
        ("Ana sold the boat to a friend. She kept the oars and", "Ana sold the boat to a friend."),
        ("Ana said: \"I sold it yesterday!\" Then she le", "Ana said: \"I sold it yesterday!\""),
        ("the pressure on the wing rises . the results sh", "the pressure on the wing rises ."),
        ("A paragraph about the boat\n\nAnother one about", "A paragraph about the boat"),
        ("我昨天把船卖给了一个朋友。她留下了桨", "我昨天把船卖给了一个朋友。"),
        ("ऊदबिलाव नदी में तैरता है। वह चतुर", "ऊदबिलाव नदी में तैरता है।"),
        ("هل تعلم أنه يحب النهر؟ إنه ذكي", "هل تعلم أنه يحب النهر؟"),
        ("وہ دریا میں تیرتا ہے۔ وہ", "وہ دریا میں تیرتا ہے۔"),
        ("እሱ በወንዝ ውስጥ ይዋኛል። እሱ", "እሱ በወንዝ ውስጥ ይዋኛል።"),
    ] {
        assert_eq!(cut_at_sentence(text), cut);
    }
}

#[test]
fn an_abbreviation_or_a_wrapped_line_ends_no_sentence() {
    for (text, cut) in [
        ("Ana sold the boat to her dentist Dr. Miller", "Ana sold the boat to her dentist Dr."),
        ("Tools for the garden, e.g. spades and ra", "Tools for the garden, e.g. spades and"),
        ("Ana sold the boat to\na friend of her mo", "Ana sold the boat to\na friend of her"),
    ] {
        assert_eq!(cut_at_sentence(text), cut);
    }
}

#[test]
fn a_beginning_that_tells_nothing_is_left_out() {
    for text in ["Maria: Yes! I w", "Maria: The", "Maria:", "So. Then we wen", "", "日本"] {
        assert_eq!(cut_at_sentence(text), "", "{text}");
    }
    let text = "Maria: Yes! I went there with my sister and her";
    assert_eq!(cut_at_sentence(text), "Maria: Yes! I went there with my sister and");
}

#[test]
fn code_ends_with_a_line() {
    let code = "// Opens the store. Slow.\nlet store = open()?;\nlet re";
    assert_eq!(cut_at_line(code), "// Opens the store. Slow.\nlet store = open()?;");
    assert_eq!(
        cut_at_line("let store = open_the_store(here, now)?;"),
        "let store = open_the_store(here,"
    );
}

#[test]
fn a_text_of_closing_signs_is_read_once() {
    let text = format!("Ana sold the boat to a friend. {}", "*".repeat(300_000));
    assert_eq!(cut_at_sentence(&text), "Ana sold the boat to a friend.");
}
