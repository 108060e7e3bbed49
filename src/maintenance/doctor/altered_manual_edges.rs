//! Finds altered edges that were made by hand, and gives back what the rest of their rows proves.
//!
//! No text repeats such an edge, but it is stored three times: as its words, as the hashes of the
//! names that these wait for, and as its target. Two of them that agree prove the third.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use super::broken_fields_repair::each_one_byte_version;
use super::shown;
use super::text_hashes::node_name;
use crate::model::links::name::{LinkNameHash, LinkResolution};
use crate::model::links::reference::Reference;
use crate::model::links::resolve::names_needed_by;
use crate::store::{NodeRowId, PreparedStatements, StoreError, links};

const MANUAL: &str = "manual";
const PARSED: &str = "parsed";

/// Bytes of a word of an edge of which one is looked for that was altered.
const ALTERED_BYTES_MAX: usize = 256;

/// An edge made by hand, as its rows have it.
struct ManualEdge {
    id: i64,
    source: NodeRowId,
    /// Names the node that it starts from, and what it leads to.
    name: String,
    words: Reference,
    /// The names that its words wait for.
    names: BTreeSet<LinkNameHash>,
    target: Option<i64>,
}

/// A reference whose origin or form is no known word, or whose origin contradicts its form.
struct OddReference {
    id: i64,
    name: String,
    origin: String,
    form: String,
}

/// A word of an edge: its name, and its place.
type EdgeWord = (&'static str, fn(&mut Reference) -> Option<&mut String>);

const WORDS: [EdgeWord; 4] = [
    ("label", |it| Some(&mut it.label)),
    ("file", |it| it.source.as_mut()),
    ("id", |it| it.id_hint.as_mut()),
    ("heading", |it| it.heading.as_mut()),
];

/// Returns the names of the edges that differ from what is known of them, and of references of an
/// unknown origin.
pub(super) fn named(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let mut names: Vec<String> = odd_references(conn)?.into_iter().map(|it| it.name).collect();
    for edge in ManualEdge::all(conn)? {
        if !edge.is_named() || edge.target_of(conn, &edge.words)? != edge.target {
            names.push(edge.name);
        }
    }
    Ok(names)
}

/// Reads all references again, and restores the edges made by hand; returns notes on these.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let mut notes = mend_origins(conn)?;
    // What is known of the edges goes when all is read again, and nodes get their names then.
    let edges = ManualEdge::all(conn)?;
    links::read_again(conn)?;
    for edge in &edges {
        notes.extend(edge.restore(conn)?);
    }
    Ok(notes)
}

impl ManualEdge {
    fn all(conn: &Connection) -> Result<Vec<ManualEdge>, StoreError> {
        const EDGES: &str = concat!(
            "SELECT ",
            links::reference_columns!(),
            ", reference.id, reference.source, reference.target, node.id, node.label
               FROM reference
               JOIN node ON node.key = reference.source
              WHERE reference.origin = 'manual'
              ORDER BY reference.id"
        );
        let read = |row: &Row<'_>| {
            let words = links::read_reference(row)?;
            let to = words.id_hint.as_ref().filter(|_| words.label.is_empty());
            let name = edge_name(
                [&*row.get::<_, String>(10)?, &*row.get::<_, String>(11)?],
                to.unwrap_or(&words.label),
            );
            Ok(ManualEdge {
                id: row.get(7)?,
                source: NodeRowId(row.get(8)?),
                name,
                words,
                names: BTreeSet::new(),
                target: row.get(9)?,
            })
        };
        let mut edges: Vec<ManualEdge> = conn.rows(EDGES, [], read, "read the edges")?;
        for edge in &mut edges {
            edge.names = links::wanted_of(conn, edge.id)?;
        }
        Ok(edges)
    }

    /// Returns whether its words wait for the names that are kept.
    fn is_named(&self) -> bool {
        is_named(&self.words, &self.names)
    }

    /// Returns the node that words in its place lead to.
    fn target_of(&self, conn: &Connection, words: &Reference) -> Result<Option<i64>, StoreError> {
        Ok(match links::resolve_text_target(conn, self.source, words)? {
            LinkResolution::Node(key) => Some(key.0),
            LinkResolution::Missing | LinkResolution::Ambiguous(_) => None,
        })
    }

    /// Gives it its words back where one of them was altered; returns a note on that, or on a
    /// target that it loses.
    fn restore(&self, conn: &Connection) -> Result<Option<String>, StoreError> {
        let (is_named, now) = (self.is_named(), self.target_of(conn, &self.words)?);
        if is_named && (self.target.is_none() || self.target == now) {
            return Ok(None);
        }
        if let Some((word, former)) = self.former_words(conn)? {
            self.set_words(conn, &former)?;
            let note = format!("{}: its {word} is again what its names prove", self.name);
            return Ok(Some(note));
        }
        // Words that agree with the names prove another target.
        let lost = self.target.filter(|_| self.target != now && (!is_named || now.is_none()));
        let Some((id, label)) = lost.map(|it| node(conn, it)).transpose()?.flatten() else {
            return Ok(None);
        };
        Ok(Some(format!(
            "{} led to {}, and nothing proves which of both was altered; it follows its words; \
             relate the nodes again if these are wrong",
            self.name,
            node_name(&id, &label)
        )))
    }

    /// Returns the words with one of them as it was: they wait for the names that are kept, and
    /// lead to the target if any such words do.
    fn former_words(
        &self,
        conn: &Connection,
    ) -> Result<Option<(&'static str, Reference)>, StoreError> {
        let mut versions = Vec::new();
        for (word, of) in WORDS {
            let mut version = self.words.clone();
            let Some(now) = of(&mut version).cloned() else { continue };
            each_one_byte_version(&now, ALTERED_BYTES_MAX, |it| {
                if let Some(text) = of(&mut version) {
                    it.clone_into(text);
                }
                if is_named(&version, &self.names) {
                    versions.push((word, version.clone()));
                }
            });
        }
        // The names do not tell small letters from capitals, which come first and are rarer.
        versions.reverse();
        if let Some((id, label)) = self.target.map(|it| node(conn, it)).transpose()?.flatten() {
            let by_id = Reference { id_hint: Some(id), ..self.words.clone() };
            let by_label = Reference { label, ..self.words.clone() };
            versions.splice(0..0, [("id", by_id), ("label", by_label)]);
        }
        versions.retain(|it| it.1 != self.words && is_named(&it.1, &self.names));
        for (word, version) in &versions {
            if self.target_of(conn, version)? == self.target {
                return Ok(Some((word, version.clone())));
            }
        }
        // The target may be lost, or be altered as the words are; the names are hashes and suffice.
        Ok(versions.into_iter().next().filter(|_| !self.is_named()))
    }

    fn set_words(&self, conn: &Connection, words: &Reference) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE reference
               SET label = ?2, path = ?3, id_hint = ?4, heading = ?5
             WHERE id = ?1";
        const UNWANT: &str = "DELETE FROM wanted WHERE reference = ?1";
        let Reference { label, source, id_hint, heading, .. } = words;
        conn.run(SET, params![self.id, label, source, id_hint, heading], "mend an edge")?;
        conn.run(UNWANT, [self.id], "mend an edge")?;
        links::want(conn, self.id, words)?;
        links::resolve_rows(conn, BTreeSet::from([self.id]))
    }
}

/// Gives references of an unknown origin or form a known one; returns notes on those made by hand.
fn mend_origins(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const SET: &str = "UPDATE reference SET origin = ?2, form = ?3 WHERE id = ?1";
    let (mut notes, forms) = (Vec::new(), links::FORMS.map(|it| it.1));
    for it in odd_references(conn)? {
        let proven = it.proven_origin();
        // One of a text is read again, so that nothing is lost with it.
        let origin = proven.unwrap_or(MANUAL);
        let form = one_byte_off(&it.form, &forms).unwrap_or(MANUAL);
        conn.run(SET, params![it.id, origin, form], "mend an edge")?;
        if proven.is_none() {
            let was = shown(&it.origin);
            notes
                .push(format!("{}: of unknown origin `{was}`; it counts as made by hand", it.name));
        } else if origin == MANUAL {
            notes.push(format!("{}: it is again one that was made by hand", it.name));
        }
    }
    Ok(notes)
}

impl OddReference {
    /// Returns its origin, if another column or all but one byte proves it.
    fn proven_origin(&self) -> Option<&'static str> {
        // No text has this form.
        if self.form == MANUAL {
            return Some(MANUAL);
        }
        one_byte_off(&self.origin, &[MANUAL, PARSED])
    }
}

fn odd_references(conn: &Connection) -> Result<Vec<OddReference>, StoreError> {
    let odd = format!(
        "SELECT reference.id, reference.origin, reference.form, node.id, node.label,
                iif(reference.label = '', ifnull(reference.id_hint, ''), reference.label)
           FROM reference
           JOIN node ON node.key = reference.source
          WHERE reference.origin NOT IN ('parsed', 'manual')
             OR reference.form NOT IN ('{}')
             OR (reference.origin, reference.form) = ('parsed', 'manual')
          ORDER BY reference.id",
        links::FORMS.map(|it| it.1).join("', '")
    );
    let read = |row: &Row<'_>| {
        let [origin, form, id, label, to]: [String; 5] =
            [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
        Ok(OddReference { id: row.get(0)?, name: edge_name([&id, &label], &to), origin, form })
    };
    conn.rows(&odd, [], read, "read the origins of references")
}

/// Returns the known word that a word is, or differs from in one byte.
fn one_byte_off(word: &str, known: &[&'static str]) -> Option<&'static str> {
    let n_off = |it: &str| it.bytes().zip(word.bytes()).filter(|(one, other)| one != other).count();
    known.iter().copied().find(|it| it.len() == word.len() && n_off(it) <= 1)
}

fn is_named(words: &Reference, names: &BTreeSet<LinkNameHash>) -> bool {
    names_needed_by(words).into_iter().collect::<BTreeSet<_>>() == *names
}

fn edge_name([id, label]: [&str; 2], to: &str) -> String {
    format!("the edge from {} to `{}`", node_name(id, label), shown(to))
}

/// Returns the id and the label of a node.
fn node(conn: &Connection, key: i64) -> Result<Option<(String, String)>, StoreError> {
    const NODE: &str = "SELECT id, label FROM node WHERE key = ?1";
    conn.find(NODE, [key], |row| Ok((row.get(0)?, row.get(1)?)), "name a node")
}
