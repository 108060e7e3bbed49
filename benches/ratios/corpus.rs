//! Notes as people write them, the same on every machine: front matter, headings, paragraphs,
//! lists, tables, code and links, over a vocabulary in which few words are frequent.

use std::fs;
use std::path::Path;

use crate::Outcome;

const WORDS: usize = 6_000;
/// Bytes of one note, about.
const NOTE_BYTES: usize = 8 * 1024;
const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "yu", "zan", "ter", "lin", "mor",
];

/// A generator of numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// A word: of the first ones often, of the last ones seldom.
    fn word(&mut self) -> String {
        let rank = self.below(WORDS) * self.below(WORDS) / WORDS * self.below(WORDS) / WORDS;
        let mut rest = rank + 24;
        let mut word = String::new();
        while 0 < rest {
            word += SYLLABLES[rest % SYLLABLES.len()];
            rest /= SYLLABLES.len();
        }
        word
    }

    fn sentence(&mut self, n_words: usize) -> String {
        let words: Vec<String> = (0..n_words).map(|_| self.word()).collect();
        words.join(" ")
    }
}

/// Writes `n_files` notes and returns their bytes.
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

fn note(nth: usize, n_files: usize) -> String {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (nth as u64 + 1).wrapping_mul(0x2545_f491));
    dice.below(2);
    let title = dice.sentence(3);
    let mut text =
        format!("---\ntitle: Note {nth} {title}\ntags: [{}]\n---\n# Note {nth}\n\n", dice.word());
    while text.len() < NOTE_BYTES {
        text += &format!("## {}\n\n", dice.sentence(3));
        for _ in 0..1 + dice.below(4) {
            for _ in 0..2 + dice.below(4) {
                let n_words = 6 + dice.below(14);
                text += &format!("{}. ", dice.sentence(n_words));
            }
            text += "\n\n";
        }
        match dice.below(5) {
            0 => {
                for _ in 0..2 + dice.below(5) {
                    text += &format!("- {}\n", dice.sentence(6));
                }
            }
            1 => text += &format!("```sh\nrun {} --{}\n```\n", dice.word(), dice.word()),
            2 => text += &format!("See [[Note {}]] for {}.\n", dice.below(n_files), dice.word()),
            3 => {
                let (one, other) = (dice.word(), dice.below(1000));
                text += &format!("| name | count |\n|---|---|\n| {one} | {other} |\n");
            }
            _ => text += &format!("### {}\n\n{}.\n", dice.sentence(2), dice.sentence(20)),
        }
        text += "\n";
    }
    text
}
