//! Advice: what to do next, in the names of the tools that its reader can call.
//!
//! An advice is written with the names of the tools of notes and knowledge, in clauses with `; `
//! between them. Each tool gets the name by which its reader calls it, and a clause with one that
//! the reader cannot call is left out. What stands in backticks is a quotation and stays.

use std::sync::Arc;

/// A tool, with the name by which it is called if it can be.
pub(crate) type ToolWithCallName = (&'static str, Option<&'static str>);

/// The tools that whoever reads an advice can call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallableTools {
    /// Every tool that advice may name; `None` where each is called by its own name.
    tools: Option<Arc<[ToolWithCallName]>>,
}

impl CallableTools {
    /// Returns those of all tools that can be called.
    pub(crate) fn of(tools: impl IntoIterator<Item = ToolWithCallName>) -> CallableTools {
        CallableTools { tools: Some(tools.into_iter().collect()) }
    }

    /// Returns whether a tool can be called.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.name_of(tool).is_some()
    }

    /// Returns the name by which a tool is called; a word that is no tool stays as it is.
    fn name_of<'a>(&self, word: &'a str) -> Option<&'a str> {
        let tools = self.tools.as_deref().unwrap_or_default();
        tools.iter().find(|it| it.0 == word).map_or(Some(word), |it| it.1)
    }

    /// Returns an advice as its reader can follow it.
    pub(crate) fn advise(&self, advice: &str) -> String {
        if self.tools.is_none() {
            return advice.to_owned();
        }
        let clauses: Vec<String> =
            clauses(advice).into_iter().filter_map(|it| self.clause(it)).collect();
        clauses.join("; ")
    }

    /// Returns the message of an error, whose advice are the clauses behind what it says first and
    /// behind its last quotation. Whatever somebody wrote stays as it is, since messages quote it.
    pub(crate) fn advise_error(&self, message: &str) -> String {
        let quoted = message.rfind('`').map_or(0, |it| it + 1);
        let Some(at) = message[quoted..].find("; ").map(|it| quoted + it) else {
            return message.to_owned();
        };
        let (what, advice) = (&message[..at], self.advise(&message[at + 2..]));
        match advice.is_empty() {
            true => what.to_owned(),
            false => format!("{what}; {advice}"),
        }
    }

    /// Returns a clause with the names of its tools, if all can be called.
    fn clause(&self, clause: &str) -> Option<String> {
        let mut out = String::with_capacity(clause.len());
        for (nth, part) in clause.split('`').enumerate() {
            if 0 < nth {
                out.push('`');
            }
            if nth % 2 == 1 {
                out.push_str(part);
                continue;
            }
            for word in part.split_inclusive(|it: char| !it.is_alphanumeric()) {
                let tool = word.trim_end_matches(|it: char| !it.is_alphanumeric());
                out.push_str(self.name_of(tool)?);
                out.push_str(&word[tool.len()..]);
            }
        }
        Some(out)
    }
}

/// Returns the clauses of an advice; none ends within backticks.
fn clauses(advice: &str) -> Vec<&str> {
    let (mut clauses, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, sign) in advice.char_indices() {
        is_quoted ^= sign == '`';
        if !is_quoted && advice[at..].starts_with("; ") {
            clauses.push(&advice[start..at]);
            start = at + 2;
        }
    }
    clauses.push(&advice[start..]);
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> CallableTools {
        CallableTools::of([
            ("MemoryTree", Some("MemoryTree")),
            ("MemoryReview", Some("consolidate")),
            ("MemoryWrite", Some("`remindb write`")),
            ("MemoryFetch", None),
            ("MemoryRelate", None),
        ])
    }

    #[track_caller]
    fn check(advice: &str, expected: &str) {
        assert_eq!(tools().advise(advice), expected);
        assert_eq!(CallableTools::default().advise(advice), advice);
    }

    #[test]
    fn tools_get_the_names_by_which_they_are_called() {
        check(
            "MemoryReview hands it out, MemoryTree shows it",
            "consolidate hands it out, MemoryTree shows it",
        );
        check("write it: MemoryWrite.", "write it: `remindb write`.");
        check(
            "cannot read MemoryManager.md; it is gone",
            "cannot read MemoryManager.md; it is gone",
        );
    }

    #[test]
    fn a_clause_with_a_tool_that_is_not_there_is_left_out() {
        check("names `x`, a note; MemoryRelate relates notes", "names `x`, a note");
        check("MemoryFetch shows all; so does a larger budget", "so does a larger budget");
        check("MemoryFetch or MemoryTree shows it", "");
    }

    #[test]
    fn what_an_error_quotes_is_no_advice() {
        for (message, expected) in [
            ("no topic `it`s MemoryFetch`", "no topic `it`s MemoryFetch`"),
            ("no topic `a` MemoryFetch; b` x`", "no topic `a` MemoryFetch; b` x`"),
            (
                "no topic `a; MemoryReview`; MemoryReview lists",
                "no topic `a; MemoryReview`; consolidate lists",
            ),
            (
                "names `x`; MemoryRelate relates; nothing was applied",
                "names `x`; nothing was applied",
            ),
            ("names `x`, a note; MemoryRelate relates notes", "names `x`, a note"),
            ("MemoryFetch failed", "MemoryFetch failed"),
        ] {
            assert_eq!(tools().advise_error(message), expected);
        }
    }

    #[test]
    fn a_quotation_stays_as_it_is() {
        check(
            "no edge to `a; MemoryFetch b`; MemoryTree shows",
            "no edge to `a; MemoryFetch b`; MemoryTree shows",
        );
    }
}
