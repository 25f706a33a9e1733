//! Graphs: work that is described once and launched often.
//!
//! A node holds the work that a launch queues, with all that it touches. Nodes come from captured
//! calls and from `cuGraphAdd…`; `edit` changes graphs, `exec` makes them executable, `launch`
//! queues them, `memory` has what allocation nodes allocate, `memory_batch` nodes that wait for words
//! and write them, `object` what graphs keep alive.

pub(crate) mod edit;
pub(crate) mod exec;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod memory_batch;
pub(crate) mod object;
pub(crate) mod parameters;
pub(crate) mod update;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sys::{CUDA_MEMCPY3D, CUgraphEdgeData, CUgraphNodeType};

use crate::engine::graph::exec::Exec;
use crate::engine::graph::memory::GraphMemory;
use crate::engine::graph::memory_batch::MemoryBatch;
use crate::engine::graph::object::UserObject;
use crate::engine::graph::parameters::Plain;
use crate::engine::handle::{Handle, Kind, Table};
use crate::engine::registry::BufferId;
use crate::engine::work::{Touch, Work};
use crate::report::Side;

/// Is what a node waits for: another node of its graph, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependency {
    pub(crate) node: Handle,
    pub(crate) data: CUgraphEdgeData,
}

impl Dependency {
    /// Makes the ordinary kind: all of the other node comes before.
    pub(crate) fn full(node: Handle) -> Self {
        Self { node, data: CUgraphEdgeData::zeroed() }
    }

    /// Tells whether the edge is of the ordinary kind.
    pub(crate) fn is_full(&self) -> bool {
        let CUgraphEdgeData { from_port, to_port, type_, .. } = self.data;
        from_port == 0 && to_port == 0 && type_ == 0
    }
}

/// Is work that a launch queues.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) work: Work,
    pub(crate) touches: Vec<Touch>,
    /// A copy's descriptor, if the program gave one.
    pub(crate) descriptor: Option<Plain<CUDA_MEMCPY3D>>,
}

/// Is what a node does.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Empty,
    Task(Box<Task>),
    /// Runs the nodes of a graph that belongs to the node.
    Child(Handle),
    Record(Handle),
    Wait(Handle),
    /// Waits for words of memory, and writes them.
    Memory(Arc<MemoryBatch>),
    Allocate(BufferId),
    Free(BufferId),
}

impl Operation {
    /// Makes the operation of work that queues itself.
    pub(crate) fn task(mut work: Work, touches: Vec<Touch>) -> Self {
        work.expect_nothing();
        Self::Task(Box::new(Task { work, touches, descriptor: None }))
    }

    /// Returns the work of a task.
    pub(crate) fn work(&self) -> Option<&Work> {
        match self {
            Self::Task(task) => Some(&task.work),
            _ => None,
        }
    }

    /// Returns the kind as the driver names it.
    pub(crate) fn kind(&self) -> CUgraphNodeType {
        match self {
            Self::Empty => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Record(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Self::Wait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Self::Memory(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
            Self::Allocate(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Self::Free(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Self::Task(task) => match &task.work {
                Work::Copy { .. } => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY,
                Work::Fill { .. } => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
                Work::Kernel(..) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
                Work::Batch(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY_BATCH,
                Work::WaitValue(_) | Work::Word { .. } => {
                    CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
                }
                Work::Call(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
                Work::Nothing | Work::Record(..) | Work::Free(_) | Work::Release(_) => {
                    CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY
                }
            },
        }
    }
}

/// Is a node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) graph: Handle,
    /// Counts the nodes of the graph, in the order of their making.
    pub(crate) local_id: u32,
    /// Counts the nodes of the process.
    pub(crate) tools_id: u64,
    pub(crate) operation: Operation,
    pub(crate) dependencies: Vec<Dependency>,
    /// The node that it was cloned from.
    pub(crate) original: Option<Handle>,
    /// The call that made it.
    pub(crate) made_by: Side,
}

/// Is a graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) handle: Handle,
    pub(crate) id: u32,
    /// In the order of their making.
    pub(crate) nodes: Vec<Handle>,
    /// The node that it belongs to.
    pub(crate) parent: Option<Handle>,
    /// Whether a capture adds to it; it is the capture's until that ends.
    pub(crate) is_captured: bool,
    /// How many references to each user object it has.
    pub(crate) objects: BTreeMap<Handle, u32>,
    next_local_id: u32,
    pub(crate) made_by: Side,
}

impl Graph {
    /// Tells whether the program has to destroy it.
    pub(crate) const fn is_the_programs(&self) -> bool {
        self.parent.is_none() && !self.is_captured
    }
}

/// Holds all graphs and what belongs to them.
#[derive(Debug)]
pub(crate) struct Graphs {
    pub(crate) graphs: Table<Graph>,
    pub(crate) nodes: Table<Node>,
    pub(crate) execs: Table<Exec>,
    pub(crate) objects: Table<UserObject>,
    pub(crate) memory: BTreeMap<BufferId, GraphMemory>,
    /// By device: how much memory of graphs was in use at most, and reserved at most.
    pub(crate) most: BTreeMap<usize, [u64; 2]>,
    last_id: u32,
    last_tools_id: u64,
}

impl Default for Graphs {
    fn default() -> Self {
        Self {
            graphs: Table::new(Kind::Graph),
            nodes: Table::new(Kind::Node),
            execs: Table::new(Kind::Exec),
            objects: Table::new(Kind::Object),
            memory: BTreeMap::new(),
            most: BTreeMap::new(),
            last_id: 0,
            last_tools_id: 0,
        }
    }
}

impl Graphs {
    /// Returns an id that no graph and no executable graph of the process has or had.
    pub(crate) fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns the nodes of a graph, in the order of their making.
    pub(crate) fn nodes_of(&self, graph: Handle) -> Vec<Handle> {
        self.graphs.get(graph).map(|graph| graph.nodes.clone()).unwrap_or_default()
    }

    /// Returns what a node waits for.
    pub(crate) fn dependencies_of(&self, node: Handle) -> Vec<Dependency> {
        self.nodes.get(node).map(|node| node.dependencies.clone()).unwrap_or_default()
    }

    /// Returns what waits for a node, with how.
    pub(crate) fn dependents_of(&self, node: Handle) -> Vec<Dependency> {
        let Some(graph) = self.nodes.get(node).map(|node| node.graph) else { return Vec::new() };
        let mut dependents = Vec::new();
        for other in self.nodes_of(graph) {
            for dependency in self.dependencies_of(other) {
                if dependency.node == node {
                    dependents.push(Dependency { node: other, ..dependency });
                }
            }
        }
        dependents
    }

    /// Returns the nodes and all that come before them.
    pub(crate) fn with_all_before(&self, nodes: &[Handle]) -> std::collections::BTreeSet<Handle> {
        let mut found = std::collections::BTreeSet::new();
        let mut open = nodes.to_vec();
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(self.dependencies_of(node).iter().map(|dependency| dependency.node));
            }
        }
        found
    }

    /// Tells whether a graph, or one inside of it, has a node of which that is true.
    pub(crate) fn any_node(&self, graph: Handle, is: &impl Fn(&Operation) -> bool) -> bool {
        self.nodes_of(graph).iter().filter_map(|&node| self.nodes.get(node)).any(|node| {
            is(&node.operation)
                || matches!(node.operation, Operation::Child(child) if self.any_node(child, is))
        })
    }

    /// Tells whether a graph has nodes that allocate or free: such graphs are limited (manual).
    pub(crate) fn has_memory_nodes(&self, graph: Handle) -> bool {
        self.any_node(graph, &|operation| {
            matches!(operation, Operation::Allocate(_) | Operation::Free(_))
        })
    }
}
