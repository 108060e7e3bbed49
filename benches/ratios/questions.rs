//! Generates an agent's questions about the notes, the same ones each time.
//!
//! They are words of headings and paragraphs, and sentences made of them.

use std::collections::HashSet;

use crate::corpus::{Dice, FUNCTION_WORDS, note};

/// Frames of words around those searched for.
const QUESTIONS: [&str; 8] = [
    "what is the {} of {}?",
    "how does {} work with {}?",
    "where did we write about {} and {}?",
    "why was {} changed from {}?",
    "who is responsible for {}, {} and {}?",
    "when should {} be {}?",
    "what do we know about {}?",
    "is there a {} for the {} of {}?",
];

/// A question: the agent's text, and the words searched for.
pub(crate) struct Question {
    pub(crate) text: String,
    /// A full-text expression: the words searched for, ORed.
    pub(crate) expression: String,
}

/// Returns `n` questions about `n_files` notes.
///
/// Each is a heading, one to four words of a paragraph, or such words in a sentence.
pub(crate) fn questions(n: usize, n_files: usize) -> Vec<Question> {
    let mut dice = Dice::of(usize::MAX / 2);
    (0..n)
        .map(|nth| {
            let text = note(dice.below(n_files), n_files);
            let is_heading = nth % 8 == 0;
            let places: Vec<&str> = text
                .lines()
                .filter(|line| match is_heading {
                    true => line.starts_with("##"),
                    false => line.ends_with('.') && 100 < line.len(),
                })
                .collect();
            let place = words(places[dice.below(places.len())]);
            match nth % 8 {
                0 => question(place.join(" "), &place),
                4..8 => asked(&mut dice, &place),
                n_words => {
                    let n_words = if n_words == 3 { 3 + dice.below(2) } else { n_words };
                    let chosen = some(&mut dice, &place, n_words);
                    question(chosen.join(" "), &chosen)
                }
            }
        })
        .collect()
}

/// Returns a word in the title of every note, and so in the breadcrumb of every node.
pub(crate) fn everywhere() -> Question {
    question("note".to_owned(), &["note".to_owned()])
}

/// Returns a whole sentence with words of a place.
fn asked(dice: &mut Dice, place: &[String]) -> Question {
    let frame = QUESTIONS[dice.below(QUESTIONS.len())];
    let chosen = some(dice, place, frame.matches("{}").count());
    let mut text = frame.to_owned();
    for word in &chosen {
        text = text.replacen("{}", word, 1);
    }
    // The other content words of the sentence are searched for, too.
    let content: Vec<String> = words(&text).into_iter().filter(|it| !is_held(it)).collect();
    question(text, &content)
}

/// Returns whether searches skip a frame's word while there are others.
fn is_held(word: &str) -> bool {
    const HELD: [&str; 17] = [
        "what", "is", "the", "of", "how", "does", "with", "where", "did", "we", "about", "why",
        "was", "from", "who", "when", "there",
    ];
    HELD.contains(&word) || ["for", "and", "should", "be", "do", "a"].contains(&word)
}

fn question(text: String, words: &[String]) -> Question {
    let quoted: Vec<String> = words.iter().map(|it| format!("\"{it}\"")).collect();
    Question { text, expression: quoted.join(" OR ") }
}

/// Returns `n` different words at random.
fn some(dice: &mut Dice, words: &[String], n: usize) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    while chosen.len() < n.min(words.len()) {
        let word = &words[dice.below(words.len())];
        if !chosen.contains(word) {
            chosen.push(word.clone());
        }
    }
    chosen
}

/// Returns the words of a line, each once, without stop words.
fn words(line: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    line.split(|it: char| !it.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|it| !it.is_empty() && !FUNCTION_WORDS.contains(&it.as_str()))
        .filter(|it| seen.insert(it.clone()))
        .collect()
}
