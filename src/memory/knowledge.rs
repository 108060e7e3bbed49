//! Knowledge: episodes that are remembered, recalled and consolidated to concepts and facts.
//!
//! Everything is a node of the tree with fields, and every change of it is one snapshot. Edges of
//! types are fields of the node that they begin at, so that undoing a change undoes its edges.

mod apply;
mod entities;
mod facts;
mod given;
mod nodes;
mod operations;
mod recall;
mod remember;
mod request;
mod review;

#[cfg(test)]
mod tests;

pub(crate) use apply::ApplyRequest;
pub(crate) use recall::RecallRequest;
pub(crate) use request::RememberRequest;
pub(crate) use review::ReviewRequest;
