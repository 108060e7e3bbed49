use super::*;

const MB: usize = 1024 * 1024;

#[track_caller]
fn check(text: &str, want: &[&str]) {
    let mut at = 0;
    let mut got = Vec::new();
    for region in regions(text, 0) {
        let (name, range) = match region {
            MarkdownOrVerbatimRegion::Markdown(range) => ("markdown", range),
            MarkdownOrVerbatimRegion::Plain(range) => ("plain", range),
            MarkdownOrVerbatimRegion::Code { range, .. } => ("code", range),
        };
        let first: String = text[range.clone()].chars().take(8).collect();
        assert!(at <= range.start, "regions overlap");
        // Only the fences around code belong to no region.
        assert!(text[at..range.start].trim().trim_matches('`').len() < 8);
        at = range.end;
        got.push(format!("{name} {first:?}"));
    }
    assert_eq!(got, want);
}

#[test]
fn a_file_of_usual_size_is_one_section() {
    check(&"# A\n\ntext\n\n".repeat(1000), &[r##"markdown "# A\n\ntex""##]);
}

#[test]
fn sections_begin_at_the_margin_after_a_blank_line() {
    let text = "# Head\n\n- item\n\n  more of it\n\n    still\n\n".repeat(3 * MB / 44);
    let head = r##"markdown "# Head\n\n""##;
    check(&text, &[head, r#"markdown "- item\n\n""#, head]);
}

#[test]
fn a_line_of_a_megabyte_is_plain() {
    let text = format!("before\n\n{}\n\nafter\n", "x".repeat(2 * MB));
    check(&text, &[r#"markdown "before\n\n""#, r#"plain "xxxxxxxx""#, r#"markdown "\nafter\n""#]);
}

#[test]
fn a_fence_is_not_cut() {
    let code = "code\n\ncode\n".repeat(3 * MB / 11);
    check(
        &format!("before\n\n```c\n{code}```\n\nafter\n"),
        &[r#"markdown "before\n\n""#, r#"code "code\n\nco""#, r#"markdown "\nafter\n""#],
    );
    check(&format!("```c\n{code}"), &[r#"code "code\n\nco""#]);
}

#[test]
fn text_without_a_section_boundary_is_cut_anyway() {
    let text = "line\n".repeat(5 * MB / 5);
    check(&text, &[r#"markdown "line\nlin""#; 3]);
}
