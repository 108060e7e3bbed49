//! Replaces runs of scripts without spaces by their bigrams where no node has the run, and weighs
//! these.
//!
//! Words of such a script are not known, and of the bigrams of `北京的天气` a memory about both words
//! may have two: `京的` spans them. So one that no node has counts nothing beside one that a node
//! has or with a particle, and elsewhere half, since a word has about two. A short run is one word
//! while a node has all of it, else its bigrams.

use std::collections::HashSet;

use super::function_words::has_particle;
use super::query_parser::{TERMS_MAX, Term, TermUnitKind};
use crate::store::StoreError;
use crate::store::reader::{MatchAgeOrder, NodeFilter, Reader};
use crate::text::spaceless_script_bigrams;

/// Part of its weight that a bigram has which no node has.
const ABSENT_SHARE: f64 = 0.5;

/// Puts the bigrams of short runs that no node has in their place.
pub(crate) fn whole_or_in_bigrams(
    reader: &Reader,
    filter: NodeFilter<'_>,
    terms: Vec<Term>,
) -> Result<Vec<Term>, StoreError> {
    if !terms.iter().any(|it| matches!(it.unit, TermUnitKind::ShortRun(_))) {
        return Ok(terms);
    }
    let filter = reader.simplified(filter)?;
    let mut found: Vec<Term> = Vec::with_capacity(terms.len());
    for term in terms {
        let TermUnitKind::ShortRun(run) = &term.unit else {
            found.push(term);
            continue;
        };
        let matches = reader.matching(&term.text, &filter, MatchAgeOrder::EldestFirst, 1)?;
        if matches.is_some_and(|it| !it.is_empty()) {
            found.push(term);
            continue;
        }
        let pairs = spaceless_script_bigrams::bigrams_of_run(run, TERMS_MAX);
        found.extend(pairs.into_iter().filter_map(Term::of_bigram));
    }
    let mut seen = HashSet::new();
    found.retain(|it| seen.insert(it.text.clone()));
    found.truncate(TERMS_MAX);
    Ok(found)
}

/// Returns the part of its weight that a bigram has which no node has.
pub(super) fn share_of_absent(pair: [char; 2], terms: &[Term], absent: u64) -> f64 {
    let is_neighbour = |(nth, term): (usize, &Term)| match term.unit {
        TermUnitKind::Bigram([first, last]) if absent & (1 << nth) == 0 => {
            last == pair[0] || first == pair[1]
        }
        _ => false,
    };
    let counts_nothing = has_particle(pair) || terms.iter().enumerate().any(is_neighbour);
    if counts_nothing { 0.0 } else { ABSENT_SHARE }
}

#[cfg(test)]
mod tests;
