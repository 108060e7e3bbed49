//! Knowledge: episodes that are remembered, recalled and consolidated to concepts and facts.
//!
//! Everything is a node of the tree with fields, and every change of it is one snapshot. Edges of
//! types are fields of the node that they begin at, so that undoing a change undoes its edges.

mod entities;
mod facts;
mod given;
mod nodes;
mod recall;
mod remember;
mod request;

#[cfg(test)]
mod tests;

pub(crate) use recall::RecallRequest;
pub(crate) use request::RememberRequest;
