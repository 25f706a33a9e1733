//! User objects: what a program lets its graphs keep alive.

use crate::driver::host_function::HostFunction;
use crate::engine::graph::Graphs;
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::report::{Finding, FindingKind, Side};

/// Is a user object.
#[derive(Debug)]
pub(crate) struct UserObject {
    /// What is called when nothing refers to it any more.
    pub(crate) destructor: HostFunction,
    /// How many references are the program's.
    pub(crate) own: u32,
    /// How many references graphs have.
    pub(crate) of_graphs: u32,
    /// The call that made it.
    pub(crate) made_by: Side,
    /// The last call that took references away.
    pub(crate) released_by: Option<Side>,
}

impl Graphs {
    /// Adds references of a graph to an object, made for it.
    pub(crate) fn refer(&mut self, graph: Handle, object: Handle, count: u32) {
        if let Some(object) = self.objects.get_mut(object) {
            object.of_graphs = object.of_graphs.saturating_add(count);
        }
        if let Some(graph) = self.graphs.get_mut(graph) {
            let held = graph.objects.entry(object).or_default();
            *held = held.saturating_add(count);
        }
    }
}

impl State {
    /// Reports that a call takes more references away than there are.
    pub(crate) fn blame_release(&mut self, handle: Handle, operand: &'static str, held: u32) {
        let object = self.graphs.objects.get(handle);
        let finding = Finding {
            kind: FindingKind::DoubleFree,
            earlier: object.and_then(|object| object.released_by.clone()),
            later: Side::new(crate::call_site::function(), operand),
            subject: format!("more references to a user object are released than the {held} held"),
        };
        self.findings.add(finding);
    }

    /// Takes references of the program, or of its graphs, from an object; the last one destroys it.
    pub(crate) fn release_object(&mut self, handle: Handle, count: u32, by_graph: bool) {
        let Some(object) = self.graphs.objects.get_mut(handle) else { return };
        let held = if by_graph { &mut object.of_graphs } else { &mut object.own };
        *held = held.saturating_sub(count);
        if count > 0 {
            object.released_by = Some(Side::new(crate::call_site::function(), "object"));
        }
        if object.own == 0
            && object.of_graphs == 0
            && let Some(object) = self.graphs.objects.remove(handle)
        {
            self.callbacks.destroy(object.destructor);
        }
    }
}
