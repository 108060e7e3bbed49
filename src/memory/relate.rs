//! Manual references: an agent links two nodes, and unlinks them.
//!
//! The target is the id of a node, or a name as between `[[` and `]]`. Names are resolved again
//! whenever the result may have changed, so an edge can be made before the target of a name exists.

use super::{Error, Memory};
use crate::ingest::parse::link;
use crate::model::links::reference::{Reference, ReferenceSyntax};
use crate::query;
use crate::store::{Batch, ManualEdgeResolution, NodeRowId, StoreError, UnrelateOutcome};

/// A request for an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RelateRequest<'a> {
    /// Id of the node that refers.
    pub(crate) source: &'a str,
    /// Id, UUID or file of the target; it means that node only.
    pub(crate) target_id: Option<&'a str>,
    /// Name of the target.
    pub(crate) target_label: Option<&'a str>,
    /// File of the target.
    pub(crate) target_source: Option<&'a str>,
    pub(crate) weight: f64,
}

impl RelateRequest<'_> {
    /// Returns the name of the target in replies.
    pub(crate) fn target_name(&self) -> &str {
        self.target_label.or(self.target_id).unwrap_or_default()
    }
}

impl Memory {
    /// Adds an edge, or changes the weight of an existing one. Snapshots do not include edges.
    pub(crate) fn relate(
        &self,
        request: &RelateRequest<'_>,
    ) -> Result<ManualEdgeResolution, Error> {
        let mut reference = self.reference(request)?;
        if let Some(id) = &reference.id_hint {
            let target = self.read(|reader| query::node_by_id(reader, id));
            reference.id_hint = Some(target.map_err(explain_target)?.id);
        }
        self.at(request.source, |batch, source| batch.relate(source, &reference))
    }

    /// Removes a manual edge.
    pub(crate) fn unrelate(
        &self,
        request: &RelateRequest<'_>,
    ) -> Result<ManualEdgeResolution, Error> {
        let mut reference = self.reference(request)?;
        if let Some(id) = &reference.id_hint {
            // Even one of no node: the target of the edge may be gone.
            reference.id_hint = Some(self.known_id(id)?.into_owned());
        }
        let (source, name) = (request.source, query::quote_input(request.target_name()));
        match self.at(source, |batch, source| batch.unrelate(source, &reference))? {
            UnrelateOutcome::Removed(edge) => Ok(edge),
            UnrelateOutcome::InText => Err(Error::BadArgument(format!(
                "the text of `{source}` refers to `{name}`, and no edge by hand does; edit the \
                 text to remove it"
            ))),
            UnrelateOutcome::Nothing => Err(Error::NotFound(format!(
                "no edge from `{source}` to `{name}`; MemoryRelated shows which there are"
            ))),
        }
    }

    fn at<T>(
        &self,
        id: &str,
        body: impl FnOnce(&mut Batch<'_>, NodeRowId) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        let id = &*self.known_id(id)?;
        let (value, _) = self.writer.write("", "", self.clock.now(), |batch| {
            let node = batch.find_any(id)?;
            node.map(|node| body(batch, node.key)).transpose()
        })?;
        value.ok_or_else(|| self.unknown(id))
    }

    /// Returns the requested reference, redacted.
    fn reference(&self, request: &RelateRequest<'_>) -> Result<Reference, Error> {
        let workspace = self.workspace();
        let clean = |text: Option<&str>| {
            let text = text.map(str::trim).filter(|it| !it.is_empty());
            text.map(|it| workspace.redactor.scrub(it).text.into_owned())
        };
        let (id, label) = (clean(request.target_id), clean(request.target_label));
        let named = label.as_deref().and_then(link::parse_typed_name);
        let mut reference = match (named, &id) {
            (Some(named), _) => named,
            (None, Some(_)) => Reference {
                label: String::new(),
                source: None,
                id_hint: None,
                heading: None,
                alias: None,
                weight: request.weight,
                form: ReferenceSyntax::Manual,
            },
            (None, None) => {
                let why = "give `target_id` or `target_label`: what the node is related to";
                return Err(Error::BadArgument(why.to_owned()));
            }
        };
        reference.form = ReferenceSyntax::Manual;
        reference.weight = request.weight;
        reference.source = clean(request.target_source).or(reference.source);
        if id.is_some() {
            reference.id_hint = id;
        }
        Ok(reference)
    }
}

/// Adds to the error about an unknown target that a name may wait for its node.
fn explain_target(error: Error) -> Error {
    match error {
        Error::NotFound(what) => Error::NotFound(format!(
            "`target_id`: {what}; for a node that is not there yet, give its name as `target_label`"
        )),
        error => error,
    }
}
