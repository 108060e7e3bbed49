//! How the items of a list are marked.

use crate::ingest::parse::html::dom::{Dom, Id};

/// How the items of a list are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Bullets,
    Numbers,
    Letters { first: u8 },
}

/// A list being read.
#[derive(Clone, Debug)]
pub(in crate::ingest::parse::html) struct List {
    style: Style,
    next: i64,
    step: i64,
}

impl List {
    pub(in crate::ingest::parse::html) fn new(dom: &Dom, id: Id) -> List {
        let style = match (dom.html_name(id), dom.attribute(id, "type")) {
            ("ol", Some("a")) => Style::Letters { first: b'a' },
            ("ol", Some("A")) => Style::Letters { first: b'A' },
            ("ol", _) => Style::Numbers,
            _ => Style::Bullets,
        };
        let start = dom.attribute(id, "start").and_then(|it| it.trim().parse().ok());
        if dom.attribute(id, "reversed").is_none() {
            return List { style, next: start.unwrap_or(1), step: 1 };
        }
        let children = std::iter::successors(dom.first_child(id), |&it| dom.next_sibling(it));
        let n_items = children.filter(|&it| dom.html_name(it) == "li").count();
        List { style, next: start.unwrap_or(i64::try_from(n_items).unwrap_or(1)), step: -1 }
    }

    /// The marker of the list's next item.
    pub(in crate::ingest::parse::html) fn marker(&mut self, dom: &Dom, item: Id) -> String {
        if let Some(value) = dom.attribute(item, "value").and_then(|it| it.trim().parse().ok()) {
            self.next = value;
        }
        let number = self.next;
        self.next = number.saturating_add(self.step);
        match self.style {
            Style::Bullets => "-".to_owned(),
            Style::Letters { first } if (1..=26).contains(&number) => {
                let offset = u8::try_from(number - 1).unwrap_or(0);
                format!("{}.", char::from(first + offset))
            }
            _ => format!("{number}."),
        }
    }
}
