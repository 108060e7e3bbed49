//! References between nodes: what names them, and what they point at.

pub(crate) mod name;
pub(crate) mod resolve;
mod shelf;
pub(crate) mod title;
