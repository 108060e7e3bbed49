//! Omitted formatting elements: open for the standard, though the filter leaves them out.
//!
//! Their end tags end a drawing or a formula inside them, and so decide whether what follows is
//! text or tags: `<textarea>` holds text in a page and tags in a drawing. The rules are those of
//! [the adoption agency] without its moves, which change no word.
//!
//! [the adoption agency]: https://html.spec.whatwg.org/#adoption-agency-algorithm

use std::collections::HashMap;

use html5ever::interface::ElemName;
use html5ever::tree_builder::TreeSink;
use html5ever::{LocalName, ns};

use super::super::dom::{DomId, DomSink, ROOT};

/// The innermost elements around a place that end the reach of formatting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InnermostBarrierAndMarker {
    /// The innermost element that an end tag does not reach through.
    barrier: DomId,
    /// The innermost element that forgets at its end what was opened inside.
    marker: DomId,
}

impl InnermostBarrierAndMarker {
    /// Returns the scope of the last of the `open` elements.
    pub(super) fn innermost(open: &[DomId], sink: &DomSink) -> InnermostBarrierAndMarker {
        let last = |is_one: fn(&DomSink, DomId) -> bool| {
            open.iter().rev().copied().find(|&id| is_one(sink, id)).unwrap_or(ROOT)
        };
        InnermostBarrierAndMarker { barrier: last(is_barrier), marker: last(is_marker) }
    }
}

/// The open formatting elements by name, each with the scope that it was opened in.
#[derive(Debug, Default)]
pub(super) struct ActiveFormattingElements {
    by_name: HashMap<LocalName, Vec<InnermostBarrierAndMarker>>,
}

impl ActiveFormattingElements {
    /// Opens an element. The next link ends the one before.
    pub(super) fn start(&mut self, name: &str, scope: InnermostBarrierAndMarker, open: &[DomId]) {
        if matches!(name, "a" | "nobr") {
            self.end(name, scope, open);
        }
        self.by_name.entry(LocalName::from(name)).or_default().push(scope);
    }

    /// Ends the innermost element of this name, and returns whether the end tag reaches one.
    /// The `open` elements are in order of their age.
    pub(super) fn end(
        &mut self,
        name: &str,
        scope: InnermostBarrierAndMarker,
        open: &[DomId],
    ) -> bool {
        let Some(scopes) = self.by_name.get_mut(&LocalName::from(name)) else { return false };
        while scopes.last().is_some_and(|it| open.binary_search(&it.marker).is_err()) {
            scopes.pop();
        }
        // An element is opened again in what follows the end of its barrier.
        let is_reached = scopes
            .last()
            .is_some_and(|it| it.marker == scope.marker && scope.barrier <= it.barrier);
        if is_reached {
            scopes.pop();
        }
        is_reached
    }
}

/// Returns whether an element of this name is open in the drawing around the last `open` element.
pub(super) fn is_open_in_drawing(sink: &DomSink, open: &[DomId], name: &str) -> bool {
    let names = open.iter().rev().map(|id| sink.elem_name(id));
    let mut of_drawing = names.take_while(|it| *it.ns() != ns!(html));
    of_drawing.any(|it| (**it.local_name()).eq_ignore_ascii_case(name))
}

fn is_marker(sink: &DomSink, id: DomId) -> bool {
    let name = sink.elem_name(&id);
    *name.ns() == ns!(html)
        && matches!(
            &**name.local_name(),
            "applet" | "caption" | "marquee" | "object" | "td" | "template" | "th"
        )
}

/// Returns whether a formatting element's end tag does not reach through this element. Of those in
/// drawings, such hold elements of the page.
pub(super) fn is_barrier(sink: &DomSink, id: DomId) -> bool {
    let name = sink.elem_name(&id);
    let local = &**name.local_name();
    match name.ns() {
        it if *it == ns!(html) => matches!(local, "select" | "table") || is_marker(sink, id),
        it if *it == ns!(svg) => matches!(local, "foreignObject" | "desc" | "title"),
        _ => matches!(local, "mi" | "mo" | "mn" | "ms" | "mtext"),
    }
}
