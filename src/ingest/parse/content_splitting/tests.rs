use super::*;

fn texts(text: &str, cut: SplitTextKind) -> Vec<&str> {
    let parts = split_parts(text, cut);
    for part in &parts {
        assert!(part.tokens <= PART_TOKENS_MAX);
        assert_eq!(part.tokens, tokens::count(&text[part.range.clone()]));
    }
    parts.into_iter().map(|part| &text[part.range]).collect()
}

fn numbered(n: usize, line: &str) -> String {
    (0..n).map(|i| format!("{line} {i}\n")).collect()
}

#[test]
fn a_small_text_is_one_part() {
    assert_eq!(texts("one\n\ntwo\n", SplitTextKind::Prose), ["one\n\ntwo\n"]);
    assert_eq!(texts("", SplitTextKind::Lines), [""]);
}

#[test]
fn lines_joined_by_a_line_break_give_the_code_back() {
    for code in [numbered(2000, "    let x ="), "\n".repeat(9000), numbered(900, "a\r\n\r\n\tb;")] {
        assert_eq!(texts(&code, SplitTextKind::Lines).join("\n"), code);
    }
}

#[test]
fn parts_of_a_long_line_are_marked_as_inside_it() {
    let code = format!("short\n{}\nend", "x1".repeat(3000));
    let parts = split_parts(&code, SplitTextKind::Lines);
    let mut whole = String::new();
    for (index, part) in parts.iter().enumerate() {
        if 0 < index && !part.is_inside_line {
            whole.push('\n');
        }
        whole.push_str(&code[part.range.clone()]);
    }
    assert_eq!(whole, code);
    assert!(parts.iter().any(|part| part.is_inside_line));
}

#[test]
fn items_stay_whole() {
    let list: String = (0..500).map(|i| format!("- item {i}\n  and more\n  - inner\n")).collect();
    let parts = texts(list.trim_end(), SplitTextKind::Prose);
    assert!(1 < parts.len());
    assert!(parts.iter().all(|part| part.starts_with("- item")), "{parts:#?}");
    assert_eq!(parts.join("\n"), list.trim_end());
}

#[test]
fn prose_is_cut_between_sentences() {
    let prose = "One sentence is like another one. ".repeat(500);
    let parts = texts(prose.trim_end(), SplitTextKind::Prose);
    assert!(1 < parts.len());
    assert!(parts.iter().all(|part| part.starts_with("One") && part.ends_with("one.")));
    assert_eq!(parts.join(" "), prose.trim_end());
}

#[test]
fn a_word_without_end_is_cut_between_characters() {
    for word in ["语", "😀", "a", "é"] {
        let text = word.repeat(9000);
        let parts = texts(&text, SplitTextKind::Prose);
        assert!(1 < parts.len(), "{word}");
        assert_eq!(parts.concat(), text);
    }
}

#[test]
fn blank_text_has_no_parts() {
    assert_eq!(texts(&" \n".repeat(20_000), SplitTextKind::Prose), Vec::<&str>::new());
}

#[test]
fn parts_behind_an_edit_stay_as_they_were() {
    let list = numbered(4000, "- an item with some words and the number");
    let older = texts(&list, SplitTextKind::Prose);
    let edited = format!("- a new item at the top\n{list}");
    let newer = texts(&edited, SplitTextKind::Prose);
    let n_kept = newer.iter().filter(|part| older.contains(part)).count();
    assert!(older.len() - 4 <= n_kept, "{n_kept} of {} parts kept", older.len());
}
