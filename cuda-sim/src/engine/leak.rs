//! What a program still has at its end, each with the call that made it.

use crate::engine::pool::Pool;
use crate::engine::registry::{Allocation, MemoryKind};
use crate::engine::state::State;
use crate::report::{Finding, FindingKind, Side};

impl State {
    /// Returns what is still alive.
    pub(crate) fn leaks(&self) -> Vec<Finding> {
        let leak = |made_by: &Side, subject: String| Finding {
            kind: FindingKind::Leak,
            earlier: None,
            later: made_by.clone(),
            subject,
        };
        let mut leaks = Vec::new();
        let is_own = |memory: &&Allocation| !matches!(memory.kind, MemoryKind::Variable(_));
        for memory in self.registry.live().filter(is_own) {
            let subject = format!("{} bytes at {:#x}", memory.size, memory.base);
            leaks.push(leak(&memory.made_by, subject));
        }
        for (made_by, subject) in self.images.alive() {
            leaks.push(leak(made_by, subject));
        }
        leaks.extend(self.loaded().into_iter().map(|(made_by, subject)| leak(made_by, subject)));
        for stream in self.streams.values() {
            let label = self.lanes.get(stream.lane).map_or("a stream", |lane| &lane.label);
            leaks.push(leak(&stream.made_by, label.to_owned()));
        }
        for event in self.events.values() {
            leaks.push(leak(&event.made_by, format!("event {:#x}", event.handle)));
        }
        for handle in self.virtual_memory.handles.values() {
            leaks.push(leak(&handle.made_by, "a handle of physical memory".to_owned()));
        }
        for (base, reserved) in &self.virtual_memory.reserved {
            let subject = format!("{} reserved addresses from {base:#x} on", reserved.size);
            leaks.push(leak(&reserved.made_by, subject));
        }
        let made = |pool: &&Pool| !pool.is_default && !pool.is_destroyed();
        for pool in self.pools.table.values().filter(made) {
            leaks.push(leak(&pool.made_by, format!("memory pool {:#x}", pool.handle)));
        }
        for graph in self.graphs.graphs.values().filter(|graph| graph.is_the_programs()) {
            leaks.push(leak(&graph.made_by, format!("graph {:#x}", graph.handle)));
        }
        for exec in self.graphs.execs.values() {
            leaks.push(leak(&exec.made_by, format!("executable graph #{}", exec.id)));
        }
        for object in self.graphs.objects.values().filter(|object| object.own > 0) {
            let subject = format!("{} references to a user object", object.own);
            leaks.push(leak(&object.made_by, subject));
        }
        let descriptors = self.open_descriptors().into_iter();
        leaks.extend(descriptors.map(|(made_by, subject)| leak(made_by, subject)));
        for context in self.contexts.values().filter(|context| context.is_held()) {
            leaks.push(leak(&context.made_by, context.describe()));
        }
        leaks
    }
}
