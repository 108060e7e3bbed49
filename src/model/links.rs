//! References between nodes: their names, and how they are resolved.

pub(crate) mod front_matter_names;
pub(crate) mod name;
mod nearest_target_index;
pub(crate) mod reference;
pub(crate) mod resolve;
