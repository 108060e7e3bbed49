//! Weighs matches by who tells them, where a question names one who speaks in a conversation.
//!
//! A question about Ana is answered by what Ana tells. A text with the same words that another
//! tells is rarely an answer, nor is one that only asks. Speakers are names that texts begin with
//! (`Ana: Hello`); where a question names none of them, texts count alike, but for those that ask.
//! This module does no IO.

use super::candidates::NodeMatch;
use super::stems_for_ranking::{StemHash, StemmedText};

/// Texts that a word begins, at least, before it is a speaker.
const SPOKEN_MIN: usize = 2;
/// Share of its words that a text keeps which another tells than the question asks about.
const OTHERS: f64 = 0.4;
/// Share of its words that a turn keeps which asks.
const ASKS: f64 = 0.6;

/// The speakers that a question names.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedSpeakers {
    names: Vec<StemHash>,
}

impl AskedSpeakers {
    /// Returns the speakers among the words of a question, by its matches.
    pub(super) fn of(words: &[StemHash], matches: &[NodeMatch]) -> AskedSpeakers {
        let speaks = |it: &StemHash| {
            let spoken = matches.iter().filter(|text| text.bag.lead_stems().contains(it));
            SPOKEN_MIN <= spoken.take(SPOKEN_MIN).count()
        };
        AskedSpeakers { names: words.iter().copied().filter(speaks).collect() }
    }

    /// Returns the share of its words that a text tells of the question.
    pub(super) fn telling(&self, text: &StemmedText) -> f64 {
        let others = if self.is_others(text) { OTHERS } else { 1.0 };
        others * asking(text)
    }

    /// Returns the shares of its words that a text gives to those before it and to the next. A
    /// question gives all to the next, who answers it.
    pub(super) fn giving(&self, text: &StemmedText) -> (f64, f64) {
        match self.is_others(text) {
            true if asking(text) < 1.0 => (OTHERS, 1.0),
            true => (OTHERS, OTHERS),
            false => (1.0, 1.0),
        }
    }

    /// Returns how much the answers are in doubt, from 1 for not at all: another tells more of the
    /// question than those that it asks about.
    pub(super) fn certainty(&self, matches: &[NodeMatch]) -> f64 {
        let best = |are_others: bool| {
            let texts = matches.iter().filter(|it| !it.bag.lead_stems().is_empty());
            let told = texts.filter(|it| self.is_others(&it.bag) == are_others);
            told.map(|it| it.share() * asking(&it.bag)).fold(0.0, f64::max)
        };
        let (own, others) = (best(false), best(true));
        if own < others { (own / others).sqrt() } else { 1.0 }
    }

    /// Returns whether another tells a text than the question asks about.
    fn is_others(&self, text: &StemmedText) -> bool {
        let lead = text.lead_stems();
        !lead.is_empty() && !self.names.is_empty() && !lead.iter().any(|it| self.names.contains(it))
    }
}

fn asking(text: &StemmedText) -> f64 {
    let is_turn = !text.lead_stems().is_empty();
    if is_turn && text.is_question() { ASKS } else { 1.0 }
}
