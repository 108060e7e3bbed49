//! References between nodes: what names them, and what they point at.

mod candidates;
pub(crate) mod name;
pub(crate) mod reference;
pub(crate) mod resolve;
pub(crate) mod title;
