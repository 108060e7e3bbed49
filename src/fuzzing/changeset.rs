//! Changesets of any content: what is read of the lines that are printed is equal.

use serde_json::{Map, Value};

use crate::memory::knowledge::{parse_changeset, print_changeset};

/// Panics when `data` as a changeset violates an invariant.
pub fn changeset(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_changeset(text) {
        Err(errors) => {
            let n_lines = text.lines().count();
            assert!(!errors.is_empty() && errors.iter().all(|it| it.line <= n_lines));
        }
        Ok(operations) => {
            let operations: Vec<Map<String, Value>> =
                operations.into_iter().map(|it| it.1).collect();
            let printed = print_changeset(&operations);
            assert_eq!(printed.lines().count(), operations.len(), "{printed}");
            let again = parse_changeset(&printed).expect("what is printed can be read");
            let again: Vec<Map<String, Value>> = again.into_iter().map(|it| it.1).collect();
            assert_eq!(again, operations, "{printed}");
        }
    }
}
