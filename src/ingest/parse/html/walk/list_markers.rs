//! The markers of list items.

use crate::ingest::parse::html::dom::{Dom, DomId};

/// The numbering of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListStyle {
    Bullets,
    Numbers,
    Letters { first: u8 },
}

/// A list while it is read.
#[derive(Clone, Debug)]
pub(in crate::ingest::parse::html) struct ListNumbering {
    style: ListStyle,
    next: i64,
    step: i64,
}

impl ListNumbering {
    pub(in crate::ingest::parse::html) fn new(dom: &Dom, id: DomId) -> ListNumbering {
        let style = match (dom.html_name(id), dom.attribute(id, "type")) {
            ("ol", Some("a")) => ListStyle::Letters { first: b'a' },
            ("ol", Some("A")) => ListStyle::Letters { first: b'A' },
            ("ol", _) => ListStyle::Numbers,
            _ => ListStyle::Bullets,
        };
        let start = dom.attribute(id, "start").and_then(|it| it.trim().parse().ok());
        if dom.attribute(id, "reversed").is_none() {
            return ListNumbering { style, next: start.unwrap_or(1), step: 1 };
        }
        let children = std::iter::successors(dom.first_child(id), |&it| dom.next_sibling(it));
        let n_items = children.filter(|&it| dom.html_name(it) == "li").count();
        ListNumbering {
            style,
            next: start.unwrap_or(i64::try_from(n_items).unwrap_or(1)),
            step: -1,
        }
    }

    /// Returns the marker of the list's next item.
    pub(in crate::ingest::parse::html) fn marker(&mut self, dom: &Dom, item: DomId) -> String {
        if let Some(value) = dom.attribute(item, "value").and_then(|it| it.trim().parse().ok()) {
            self.next = value;
        }
        let number = self.next;
        self.next = number.saturating_add(self.step);
        match self.style {
            ListStyle::Bullets => "-".to_owned(),
            ListStyle::Letters { first } if (1..=26).contains(&number) => {
                let offset = u8::try_from(number - 1).unwrap_or(0);
                format!("{}.", char::from(first + offset))
            }
            _ => format!("{number}."),
        }
    }
}
