//! Dated nodes: those of the days that a question asks about, as one term of it.
//!
//! The words of a date are no words to match: headings that share its numbers are of other days. A
//! node has the date if it or its titles have one of its [forms](date_forms), or if its
//! front matter does. A form without a year is one of titles only, which together tell the day.

use std::collections::{HashMap, HashSet};

use super::Error;
use super::asked_dates::{AskedDate, DateWording};
use super::dates_to_fts_query::{date_forms, phrase_of_dotted};
use super::document_dates::{DaySpan, told_days};
use super::query_parser::{QuestionTermRole, TERMS_MAX, Term, TermUnitKind};
use crate::model::tree::NodeType;
use crate::store::NodeRowId;
use crate::store::reader::{
    ArchivedVisibility, MatchAgeOrder, MatchedNode, NodeFilter, NodeTextStart, Reader,
    TextWithBreadcrumb,
};

/// Nodes that are looked up in each way, the newest.
const NODES_MAX: usize = 500;

/// The nodes that have a date.
struct NodesOfAskedDate {
    /// The full-text expression for its forms, which find some of them.
    text: String,
    nodes: Vec<NodeRowId>,
}

/// Puts the dates that nodes have in the place of their words among the terms of a question, as one
/// term, and returns the nodes that have one of them, in the order of their keys.
pub(super) fn replace_dates(
    reader: &Reader,
    dates: &[AskedDate],
    filter: &NodeFilter<'_>,
    terms: &mut Vec<Term>,
) -> Result<Vec<NodeRowId>, Error> {
    if dates.is_empty() {
        return Ok(Vec::new());
    }
    let filter = reader.simplified(*filter)?;
    let (mut nodes, mut texts, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for date in dates {
        let Some(found) = dated_nodes(reader, date, &filter)? else { continue };
        nodes.extend(found.nodes);
        if date.wording == DateWording::Month
            && let Some(at) = date.name_among(terms)
        {
            // A text that names the month is about it, whatever its own date.
            let term = terms.remove(at);
            nodes.extend(nodes_naming(reader, &term, (date, &nodes), &filter)?);
            texts.push(term.text);
            words.extend(term.words);
        } else if date.wording != DateWording::Month || terms.iter().any(|it| date.has_words_of(it))
        {
            texts.push(found.text);
        }
        terms.retain(|it| !date.has_words_of(it));
    }
    if texts.is_empty() {
        // The day that no node has is searched as words, and the name of its month as a name.
        for date in dates {
            let is_name = |it: &Term| date.has_words_of(it) && is_stem_of_others(it);
            if let Some(at) = terms.iter().position(is_name) {
                let term = terms.remove(at);
                nodes.extend(nodes_naming(reader, &term, (date, &nodes), &filter)?);
                texts.push(term.text);
            }
        }
    }
    if !texts.is_empty() {
        let text = match &texts[..] {
            [text] => text.clone(),
            several => format!("({})", several.join(" OR ")),
        };
        terms.truncate(TERMS_MAX - 1);
        let role = QuestionTermRole::Date;
        terms.push(Term { text, words, role, unit: TermUnitKind::Word, is_name: false });
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// Returns the nodes that have a date; `None` where none has it.
fn dated_nodes(
    reader: &Reader,
    asked: &AskedDate,
    filter: &NodeFilter<'_>,
) -> Result<Option<NodesOfAskedDate>, Error> {
    let forms = date_forms(asked.days, asked.this_year);
    let any = |forms: &[String]| forms.join(" OR ");
    let newest = |expression: &str, filter: &NodeFilter<'_>| {
        reader.matching(expression, filter, MatchAgeOrder::NewestFirst, NODES_MAX)
    };
    let mut nodes = Vec::new();
    let mut vague = Vec::new();
    let mut text = Vec::new();
    if !forms.exact.is_empty() {
        text.push(any(&forms.exact));
        nodes = newest(&any(&forms.exact), filter)?.unwrap_or_default();
    }
    if !forms.dotted.is_empty() {
        let phrases: Vec<String> = forms.dotted.iter().map(|it| phrase_of_dotted(it)).collect();
        let found = newest(&any(&phrases), filter)?.unwrap_or_default();
        let written = reader.contents(&found)?;
        let has_one = |it: &&NodeRowId| {
            let text = written.get(it);
            text.is_some_and(|text| forms.dotted.iter().any(|it| text.contains(it.as_str())))
        };
        nodes.extend(found.iter().filter(has_one));
    }
    if !forms.vague.is_empty() {
        text.push(format!("{{label trail}} : ({})", any(&forms.vague)));
        vague = newest(&text[text.len() - 1], filter)?.unwrap_or_default();
    }
    let front_matter = NodeFilter {
        node_type: Some(NodeType::Preamble),
        archived: ArchivedVisibility::Shown,
        ..NodeFilter::default()
    };
    let written = any(&[forms.exact, forms.vague].concat());
    let written = format!("label : preamble AND content : ({written})");
    let preambles = newest(&written, &front_matter)?.unwrap_or_default();
    vague.extend(reader.nodes_of_files_with(&preambles, filter, NODES_MAX)?);
    let told = days_of_nodes(reader, &vague)?;
    nodes.extend(told.into_iter().filter(|it| asked.days.closeness(it.1) == 1.0).map(|it| it.0));
    let text = format!("({})", text.join(" OR "));
    Ok((!nodes.is_empty()).then_some(NodesOfAskedDate { text, nodes }))
}

/// Returns the nodes that name the month or the year that a term is, the eldest of many: beside
/// those that are `known`, and none that have it of another year.
fn nodes_naming(
    reader: &Reader,
    term: &Term,
    (date, known): (&AskedDate, &[NodeRowId]),
    filter: &NodeFilter<'_>,
) -> Result<Vec<NodeRowId>, Error> {
    let found = reader.matching(&term.text, filter, MatchAgeOrder::EldestFirst, NODES_MAX)?;
    let known: HashSet<&NodeRowId> = known.iter().collect();
    let mut found = found.unwrap_or_default();
    found.retain(|it| !known.contains(it));
    if date.days.has_year && is_name(term) {
        let told = days_of_nodes(reader, &found)?;
        let is_of_another_year = |it: &DaySpan| {
            let in_any_year = DaySpan { has_year: false, ..*it };
            date.days.closeness(*it) < 1.0 && date.days.closeness(in_any_year) == 1.0
        };
        found.retain(|it| !told.get(it).is_some_and(is_of_another_year));
    }
    if is_stem_of_others(term) {
        let texts = reader.texts(&found)?;
        let names = |text: &str| {
            let mut words = text.split(|it: char| !it.is_alphanumeric());
            words.any(|word| term.words.iter().any(|it| word.eq_ignore_ascii_case(it)))
        };
        let is_named = |it: &TextWithBreadcrumb| names(&it.content) || names(&it.breadcrumb);
        found.retain(|it| texts.get(it).is_some_and(is_named));
    }
    Ok(found)
}

/// Returns whether a term is the name of a month, rather than a number.
fn is_name(term: &Term) -> bool {
    term.words.first().is_some_and(|it| it.starts_with(char::is_alphabetic))
}

/// Returns whether the index has other words as the name of a month: `marched`, `marred`.
fn is_stem_of_others(term: &Term) -> bool {
    term.words.first().is_some_and(|it| ["mar", "march"].contains(&it.as_str()))
}

impl AskedDate {
    /// Returns the term that names its month, or its year where it has no month.
    fn name_among(&self, terms: &[Term]) -> Option<usize> {
        let is_name = |it: &Term| self.has_words_of(it) && (self.words.len() == 1 || is_name(it));
        terms.iter().position(is_name)
    }

    /// Returns whether a term is of words of the date.
    pub(super) fn has_words_of(&self, term: &Term) -> bool {
        match &term.words[..] {
            [word, ..] => self.words.contains(word),
            // A phrase is a text in quotes.
            [] => {
                let mut words = term.text.trim_matches('"').split(' ');
                term.text.starts_with('"') && words.all(|it| self.words.contains(it))
            }
        }
    }
}

/// Returns the days that the front matter of their files, their breadcrumbs and labels tell of
/// nodes.
pub(super) fn days_of_nodes(
    reader: &Reader,
    keys: &[NodeRowId],
) -> Result<HashMap<NodeRowId, DaySpan>, Error> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let front_matter = reader.front_matter(keys)?;
    let titles = |it: NodeTextStart<'_>| [it.breadcrumb.to_owned(), it.label.to_owned()];
    let told = |(node, [breadcrumb, label]): (MatchedNode, [String; 2])| {
        let front_matter = front_matter.get(&node.key).map(String::as_str);
        Some((node.key, told_days(front_matter, &[&breadcrumb, &label])?))
    };
    Ok(reader.load_matches(keys, titles)?.into_iter().filter_map(told).collect())
}
