use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::cl100k_vocabulary::{N_SLOTS, N_TOKENS, TOKEN_BYTES_MAX, WIDTH, first_slot};
use super::*;

static REFERENCE: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());

#[track_caller]
fn check(text: &str) {
    assert_eq!(count(text) as usize, REFERENCE.encode_ordinary(text).len(), "{text:?}");
}

#[test]
fn counts_equal_those_of_the_encoding() {
    assert_eq!(count(""), 0);
    assert_eq!(count("hello world"), 2);
    assert_eq!(count("<|endoftext|>"), 7);
    for text in [
        "It's we'LL I'Ve 'ſ 'tis ''s 'l 'r'e",
        "  two\t\ttabs \n\n \r\n  end  ",
        "12345 1.5 ١٢٣ ⅷ² x2",
        "日本語のテキスト 한국어 ไทย e\u{301} 👩‍👩‍👧",
        "a/b.c::d<E>(f) => { g; }\r\n\r\n\t--\n",
        "\u{a0}nbsp\u{3000}wide\u{2028}line\u{85}next",
    ] {
        check(text);
    }
    for file in ["README.md", "Cargo.lock", "src/ingest/parse/mathml/symbol.rs"] {
        check(&std::fs::read_to_string(file).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_texts_are_counted_as_the_reference_does(
        text in r"([a-zA-Zſéß語ไ١٢0-9 '\t\r\n\.,/{}<>=_\-👩‍²\u{a0}\u{2028}\u{301}]|'ll|'s| {2,5}){0,80}"
    ) {
        check(&text);
    }

    #[test]
    fn any_characters_are_counted_as_the_reference_does(text in r"\PC{0,60}") {
        check(&text);
    }
}

#[test]
fn characters_of_all_scripts_are_counted_as_the_reference_does() {
    // Every 61st character is enough where all are alike.
    let all = (0..0x3000).chain((0x3000..=u32::from(char::MAX)).step_by(61));
    let all: Vec<char> = all.filter_map(char::from_u32).collect();
    for chars in all.chunks(512) {
        // Between letters and digits, so that its class matters.
        check(&chars.iter().map(|it| format!("a{it}b {it}1{it}")).collect::<String>());
    }
}

#[test]
fn counting_in_pieces_changes_nothing() {
    let text = "One line of text, 12345, `code`.\n\n  - indented\n".repeat(4000);
    assert!(PIECE_BYTES_MAX < text.len());
    check(&text);
}

#[test]
fn a_repeated_word_of_any_length_counts_the_same() {
    let letters: String = "qzxjkvbwyfgh".chars().cycle().take(80).collect();
    for n in 1..letters.len() {
        check(&format!("{} {}", &letters[..n], &letters[..n]));
        check(&letters[..n]);
    }
}

#[test]
fn huge_words_are_counted_in_near_linear_time() {
    check(&"a".repeat(1 << 12));
    check(&"\u{fffd}".repeat(1 << 12));
    assert!(0 < count(&"a".repeat(1 << 17)));
    assert!(0 < count(&" ".repeat(1 << 20)));
}

#[test]
fn the_vocabulary_file_is_that_of_the_encoding() {
    let tokens: Vec<Vec<u8>> =
        (0..N_TOKENS as u32).map(|rank| REFERENCE.decode_bytes(&[rank]).unwrap()).collect();
    assert!(tokens.iter().all(|it| it.len() <= TOKEN_BYTES_MAX));
    let mut slots = vec![0; N_SLOTS];
    let mut ends = Vec::with_capacity(N_TOKENS);
    for (rank, token) in tokens.iter().enumerate() {
        let first = first_slot(token);
        let free = (first..first + N_SLOTS).map(|it| it % N_SLOTS).find(|&it| slots[it] == 0);
        slots[free.unwrap()] = rank + 1;
        ends.push(ends.last().unwrap_or(&0) + token.len());
    }
    let numbers = [slots, ends, ranges(r"^\p{L}$"), ranges(r"^\p{N}$")].concat();
    let mut file: Vec<u8> =
        numbers.iter().flat_map(|it| (*it as u32).to_le_bytes().into_iter().take(WIDTH)).collect();
    file.extend(tokens.concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/tokens/cl100k.bin");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &file).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == file, "set UPDATE_EXPECT=1 to make it anew");
}

/// Returns the ranges of characters that match: their number, then each one's first and last.
fn ranges(pattern: &str) -> Vec<usize> {
    let pattern = regex::Regex::new(pattern).unwrap();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for it in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
        if pattern.is_match(it.encode_utf8(&mut [0; 4])) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == it as usize => *last += 1,
                _ => ranges.push((it as usize, it as usize)),
            }
        }
    }
    let mut numbers = vec![ranges.len()];
    numbers.extend(ranges.into_iter().flat_map(|(first, last)| [first, last]));
    numbers
}
