use std::cell::Cell;

use super::*;
use crate::ingest::parse::link::extract;

/// A set of files, written as `path: label, label`. The first label is the file's, a `-` marks a
/// node that is no heading, and brackets hold a title or an alias.
struct Library {
    places: Vec<LinkCandidate<usize>>,
    aliases: Vec<(String, usize)>,
}

impl Library {
    fn of(text: &str) -> Library {
        let mut candidates = Library { places: Vec::new(), aliases: Vec::new() };
        for line in text.lines() {
            let (path, labels) = line.split_once(": ").unwrap();
            let root = candidates.places.len();
            for label in labels.split(", ") {
                if let Some(alias) = label.strip_prefix('(') {
                    candidates.aliases.push((fold_name(alias.trim_end_matches(')')), root));
                    continue;
                }
                let plain = label.trim_start_matches('-');
                let id = candidates.places.len();
                let is_heading = plain == label;
                let (path, label) = (format!("r/{path}"), plain.to_owned());
                candidates.places.push(LinkCandidate { id, path, label, is_heading });
            }
        }
        candidates
    }

    fn is_first(&self, place: &LinkCandidate<usize>) -> bool {
        self.places.iter().find(|it| it.path == place.path).is_some_and(|it| it.id == place.id)
    }
}

impl LinkIndex for &Library {
    type Id = usize;
    type Error = std::convert::Infallible;

    fn node(&self, id: &str) -> Result<Option<usize>, Self::Error> {
        let nth = id.strip_prefix("0000000000").and_then(|it| it.parse().ok());
        Ok(nth.filter(|id| *id < self.places.len()))
    }

    fn labelled(&self, name: LinkNameHash) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        let is_named = |place: &&LinkCandidate<usize>| LinkNameHash::of(&place.label) == name;
        Ok(self.places.iter().filter(is_named).cloned().collect())
    }

    fn labelled_in(
        &self,
        path: &str,
        name: LinkNameHash,
    ) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        let labelled = self.labelled(name)?;
        Ok(labelled.into_iter().filter(|it| it.path == path).collect())
    }

    fn files(&self, name: &str) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        let is_named = |place: &&LinkCandidate<usize>| {
            let file = fold_name(last_path_segment(&place.path));
            [&*file, without_extension(&file)].contains(&name)
                || self.aliases.contains(&(name.to_owned(), place.id))
        };
        let firsts = self.places.iter().filter(|it| self.is_first(it));
        Ok(firsts.filter(is_named).cloned().collect())
    }
}

const CANDIDATES: &str = "\
a/one.md: One, Setup, -note, Straße, का!, की!
a/two.md: Two, Setup, Only Here, Common
b/two.md: Zwei, Setup, Development, Common
b/deep/three.md: Three, (Third Thing), Part two!, C#
top.md: Top, Alpha, Alpha, -Setup, ÄRGER, note";

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    let candidates = Library::of(CANDIDATES);
    let name = |id: &usize| {
        format!("{} {}", &candidates.places[*id].path[2..], candidates.places[*id].label)
    };
    let mut wrong = String::new();
    for (from, text, expected) in cases {
        let mut resolver = Resolver::new(&candidates);
        let target = match resolver
            .resolve(usize::MAX, &format!("r/{from}"), &extract(text)[0])
            .unwrap()
        {
            LinkResolution::Node(id) => name(&id),
            LinkResolution::Missing => "missing".to_owned(),
            LinkResolution::Ambiguous(ids) => ids.iter().map(name).collect::<Vec<_>>().join(" | "),
        };
        if target != *expected {
            wrong += &format!("{text} in {from}\n  is      {target}\n  must be {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn near_labels_come_first() {
    check(&[
        ("a/one.md", "[[setup]]", "a/one.md Setup"),
        ("b/deep/three.md", "[[Setup]]", "b/two.md Setup"),
        ("a/x.md", "[[Setup]]", "a/one.md Setup | a/two.md Setup"),
        ("top.md", "[[Setup]]", "a/one.md Setup | a/two.md Setup | b/two.md Setup"),
        ("x.md", "[[Common]]", "a/two.md Common | b/two.md Common"),
        ("x.md", "[[only  HERE]]", "a/two.md Only Here"),
        ("b/two.md", "[[Alpha]]", "top.md Alpha"),
        ("b/two.md", "[[note]]", "top.md note"),
        ("b/two.md", "[[strasse]]", "a/one.md Straße"),
        ("b/two.md", "[[ärger]]", "top.md ÄRGER"),
        ("b/two.md", "[[Nowhere]]", "missing"),
    ]);
}

#[test]
fn words_of_eleven_letters_are_labels_unless_they_are_ids() {
    check(&[
        ("a/one.md", "[[Development]]", "b/two.md Development"),
        ("a/one.md", "[[00000000001]]", "a/one.md Setup"),
        ("a/one.md", "[[One; id=00000000002]]", "a/one.md note"),
        ("a/one.md", "[[One; id=gone]]", "a/one.md One"),
    ]);
}

#[test]
fn files_are_found_by_name_title_and_alias() {
    check(&[
        ("top.md", "[[three.md]]", "b/deep/three.md Three"),
        ("top.md", "[[Third thing]]", "b/deep/three.md Three"),
        ("a/one.md", "[[two.md]]", "a/two.md Two"),
        ("top.md", "[[two.md]]", "a/two.md Two | b/two.md Zwei"),
        ("a/one.md", "[[three#Part two!]]", "b/deep/three.md Part two!"),
        ("a/one.md", "[[three#Part three]]", "b/deep/three.md Three"),
        ("a/one.md", "[[C#]]", "b/deep/three.md C#"),
        ("a/one.md", "[[Setup; source=b/two.md]]", "b/two.md Setup"),
        ("a/one.md", "[[Setup; source=two]]", "a/two.md Setup"),
        ("top.md", "[[Setup; source=two.md]]", "a/two.md Two | b/two.md Zwei"),
        ("a/one.md", "[[Nope; source=b/two.md]]", "missing"),
        ("a/one.md", "[[Setup; source=b_two.md]]", "missing"),
    ]);
}

#[test]
fn relative_links_have_one_meaning() {
    check(&[
        ("a/one.md", "[x](two.md)", "a/two.md Two"),
        ("a/one.md", "[x](../b/two.md#development)", "b/two.md Development"),
        ("a/one.md", "[x](../b/deep/three.md#part-two)", "b/deep/three.md Part two!"),
        ("b/two.md", "[x](deep/three.md#gone)", "b/deep/three.md Three"),
        ("a/one.md", "[x](#straße)", "a/one.md Straße"),
        // Vowel signs are letters.
        ("a/one.md", "[x](#की)", "a/one.md की!"),
        ("a/one.md", "[x](three.md)", "missing"),
        ("a/one.md", "[x](../../three.md)", "missing"),
    ]);
}

#[test]
fn characters_without_case_are_compared_as_they_are() {
    for it in (0x80..=u32::from(char::MAX)).filter_map(char::from_u32) {
        let is_same = it.to_uppercase().eq([it]) && it.to_lowercase().eq([it]);
        assert!(is_same || it.is_alphabetic(), "{it:?}");
    }
    assert_eq!(fold_name("  A…  b "), "a… b");
    assert_eq!(fold_name("Große…"), "grosse…");
}

/// An index in which each name is that of very many nodes and files.
#[derive(Default)]
struct Crowd {
    n_lookups: Cell<usize>,
}

impl Crowd {
    fn look_up(
        &self,
        path: impl Fn(usize) -> String,
    ) -> Result<Vec<LinkCandidate<usize>>, std::convert::Infallible> {
        self.n_lookups.set(self.n_lookups.get() + 1);
        let place =
            |id| LinkCandidate { id, path: path(id), label: "Todo".to_owned(), is_heading: false };
        Ok((0..KNOWN_MAX + 1).map(place).collect())
    }
}

impl LinkIndex for &Crowd {
    type Id = usize;
    type Error = std::convert::Infallible;

    fn node(&self, _: &str) -> Result<Option<usize>, Self::Error> {
        Ok(None)
    }

    fn labelled(&self, _: LinkNameHash) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        self.look_up(|nth| format!("r/{nth}/notes.md"))
    }

    fn labelled_in(
        &self,
        path: &str,
        _: LinkNameHash,
    ) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        self.look_up(|_| path.to_owned())
    }

    fn files(&self, _: &str) -> Result<Vec<LinkCandidate<usize>>, Self::Error> {
        self.look_up(|nth| format!("r/{nth}/todo.md"))
    }
}

/// Looked up for each of as many references, they would take the square of their number.
#[test]
fn a_name_of_very_many_nodes_and_files_is_looked_up_once() {
    let crowd = Crowd::default();
    let mut resolver = Resolver::new(&crowd);
    let reference = &extract("[[Todo]]")[0];
    let first = resolver.resolve(usize::MAX, "r/a.md", reference).unwrap();
    assert!(matches!(&first, LinkResolution::Ambiguous(ids) if ids.len() == 8), "{first:?}");
    for _ in 0..10 {
        assert_eq!(resolver.resolve(usize::MAX, "r/a.md", reference).unwrap(), first);
    }
    // In the file, among all nodes, among all files.
    assert_eq!(crowd.n_lookups.get(), 3);
}
