//! Memory that a graph's nodes allocate.
//!
//! Its address is there from the making of the node on. Calls may name it only between the launch
//! of the node that allocates it and its free, by a node or a call.

use cuda_sys::CUresult;

use crate::engine::address_space::{POOL_GROWTH, Purpose};
use crate::engine::graph::{Graphs, Operation};
use crate::engine::handle::Handle;
use crate::engine::registry::{BufferId, MemoryKind};
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;
use crate::report::Side;

/// Is memory of a graph.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    pub(crate) device: usize,
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// How many nodes and executable graphs may allocate it.
    owners: u32,
    /// Whether it was ever launched and not trimmed since: then its bytes are reserved.
    is_reserved: bool,
}

impl Graphs {
    /// Returns the memory of a graph that begins at an address.
    pub(crate) fn memory_at(&self, address: u64) -> Option<BufferId> {
        self.memory.iter().find(|(_, memory)| memory.address == address).map(|(&id, _)| id)
    }

    /// Tells whether a node of a graph, or of one inside of it, frees a piece of memory.
    pub(crate) fn frees(&self, graph: Handle, memory: BufferId) -> bool {
        self.any_node(
            graph,
            &|operation| matches!(operation, Operation::Free(other) if *other == memory),
        )
    }
}

impl State {
    /// Finds addresses for what a node will allocate.
    pub(crate) fn reserve_for_graph(
        &mut self,
        device: usize,
        bytes: usize,
    ) -> Result<BufferId, CUresult> {
        let call = crate::call_site::function();
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        let size = bytes as u64;
        let most = self.config.memory;
        let (address, _) = self.space.allocate(device, Purpose::Plain, size, most)?;
        let id = match self.admit(call, MemoryKind::Pool, device, address, size) {
            Ok(id) => id,
            Err(code) => {
                self.space.free(address);
                return Err(code);
            }
        };
        self.registry.hide(id);
        let memory = GraphMemory { device, address, size, owners: 1, is_reserved: false };
        self.graphs.memory.insert(id, memory);
        Ok(id)
    }

    /// Notes one more node or executable graph that may allocate memory.
    pub(crate) fn share_memory(&mut self, id: BufferId) {
        if let Some(memory) = self.graphs.memory.get_mut(&id) {
            memory.owners = memory.owners.saturating_add(1);
        }
    }

    /// Notes that one of those is gone. What is allocated stays until it is freed.
    pub(crate) fn leave_memory(&mut self, id: BufferId) {
        if let Some(memory) = self.graphs.memory.get_mut(&id) {
            memory.owners = memory.owners.saturating_sub(1);
        }
        self.settle_memory(id);
    }

    /// Allocates the memory: calls may name it from here on.
    pub(crate) fn show_memory(&mut self, id: BufferId) {
        self.registry.show(id);
        if let Some(memory) = self.graphs.memory.get_mut(&id) {
            memory.is_reserved = true;
            let device = memory.device;
            let now = self.graph_memory_in_use(device);
            let most = self.graphs.most.entry(device).or_default();
            *most = [most[0].max(now[0]), most[1].max(now[1])];
        }
    }

    /// Frees the memory: calls may not name it from here on.
    pub(crate) fn free_graph_memory(&mut self, id: BufferId, freed_by: Side) {
        self.registry.retire(id, freed_by);
    }

    /// Gives memory of a graph back that nothing can allocate and nobody has; tells whether it is
    /// memory of a graph.
    pub(crate) fn settle_memory(&mut self, id: BufferId) -> bool {
        let Some(memory) = self.graphs.memory.get(&id) else { return false };
        if memory.owners == 0 && !self.registry.is_live(id) {
            let address = memory.address;
            self.graphs.memory.remove(&id);
            self.registry.remove(id);
            self.space.free(address);
        }
        true
    }

    /// Returns how many bytes of a device's graphs are in use, and how many are reserved.
    pub(crate) fn graph_memory_in_use(&self, device: usize) -> [u64; 2] {
        let mut sums = [0, 0];
        for (&id, memory) in self.graphs.memory.iter().filter(|(_, memory)| memory.device == device)
        {
            if self.registry.is_live(id) {
                sums[0] += memory.size;
            }
            if memory.is_reserved {
                sums[1] += memory.size;
            }
        }
        // Measured: it is told in pieces, as that of pools.
        sums.map(|sum| sum.next_multiple_of(POOL_GROWTH))
    }

    /// Lets go of what is reserved and not in use.
    pub(crate) fn trim_graph_memory(&mut self, device: usize) {
        let registry = &self.registry;
        for (&id, memory) in &mut self.graphs.memory {
            if memory.device == device && !registry.is_live(id) {
                memory.is_reserved = false;
            }
        }
    }
}
