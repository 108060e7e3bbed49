//! Generates notes like those that people write, the same on every machine.
//!
//! They have front matter, headings, paragraphs, lists, tables, code and links, over a vocabulary
//! in which few words are frequent, joined by the function words of English.

use std::fs;
use std::path::Path;

use crate::Outcome;

const WORDS: usize = 6_000;
/// Approximate size of one note, in bytes.
const NOTE_BYTES: usize = 7_250;
const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "yu", "zan", "ter", "lin", "mor",
];
/// Function words, the frequent ones first.
pub(crate) const FUNCTION_WORDS: [&str; 16] = [
    "the", "of", "and", "to", "in", "is", "for", "that", "with", "on", "as", "by", "from", "this",
    "are", "not",
];

/// A random number generator with a fixed seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(nth: usize) -> Dice {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (nth as u64 + 1).wrapping_mul(0x2545_f491));
        dice.below(2);
        dice
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// Returns a number below `n`, small ones more often.
    fn rank(&mut self, n: usize) -> usize {
        self.below(n) * self.below(n) / n * self.below(n) / n
    }

    fn word(&mut self) -> String {
        let mut rest = self.rank(WORDS) + SYLLABLES.len();
        let mut word = String::new();
        while 0 < rest {
            word += SYLLABLES[rest % SYLLABLES.len()];
            rest /= SYLLABLES.len();
        }
        word
    }

    fn words(&mut self, n_words: usize) -> String {
        let words: Vec<String> = (0..n_words).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// Returns a sentence in which every third word is a function word.
    fn sentence(&mut self) -> String {
        let n_words = 8 + self.below(14);
        let mut text = capital(&self.word());
        for _ in 1..n_words {
            text.push(' ');
            match self.below(3) {
                0 => text += FUNCTION_WORDS[self.rank(FUNCTION_WORDS.len())],
                _ => text += &self.word(),
            }
        }
        text + "."
    }

    fn paragraph(&mut self) -> String {
        let sentences: Vec<String> = (0..2 + self.below(6)).map(|_| self.sentence()).collect();
        sentences.join(" ")
    }
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Writes `n_files` notes, and returns their size in bytes.
pub(crate) fn write(notes: &Path, n_files: usize) -> Outcome<u64> {
    let mut bytes = 0;
    for nth in 0..n_files {
        let folder = notes.join(format!("folder{}", nth / 100));
        fs::create_dir_all(&folder)?;
        let text = note(nth, n_files);
        fs::write(folder.join(format!("note{nth}.md")), &text)?;
        bytes += text.len() as u64;
    }
    Ok(bytes)
}

/// Returns the text of one note.
pub(crate) fn note(nth: usize, n_files: usize) -> String {
    let mut dice = Dice::of(nth);
    let (title, tag) = (dice.words(3), dice.word());
    let mut text = format!("---\ntitle: Note {nth} {title}\ntags: [{tag}]\n---\n# Note {nth}\n\n");
    while text.len() < NOTE_BYTES {
        text += &format!("## {}\n\n", capital(&dice.words(3)));
        for _ in 0..1 + dice.below(4) {
            text += &format!("{}\n\n", dice.paragraph());
        }
        match dice.below(5) {
            0 => {
                for _ in 0..2 + dice.below(5) {
                    text += &format!("- {}\n", dice.words(6));
                }
            }
            1 => text += &format!("```sh\nrun {} --{}\n```\n", dice.word(), dice.word()),
            2 => text += &format!("See [[Note {}]] for {}.\n", dice.below(n_files), dice.word()),
            3 => {
                let (one, other) = (dice.word(), dice.below(1000));
                text += &format!("| name | count |\n|---|---|\n| {one} | {other} |\n");
            }
            _ => text += &format!("### {}\n\n{}\n", capital(&dice.words(2)), dice.sentence()),
        }
        text += "\n";
    }
    text
}
