//! References between nodes: what they point at.

pub(crate) mod resolve;
