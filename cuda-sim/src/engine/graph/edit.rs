//! Makes, changes, clones and destroys graphs. Answers are the manual's.

use std::collections::BTreeMap;

use cuda_sys::{CUgraphEdgeData, CUgraphNodeType, CUresult};

use crate::engine::graph::{Dependency, Graph, Graphs, Node, Operation};
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;
use crate::report::Side;

const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

impl Graphs {
    /// Makes an empty graph.
    pub(crate) fn create(&mut self, made_by: Side) -> Result<Handle, CUresult> {
        let id = self.next_id();
        let new = |handle| Graph {
            handle,
            id,
            nodes: Vec::new(),
            parent: None,
            is_captured: false,
            objects: BTreeMap::new(),
            next_local_id: 0,
            made_by,
        };
        self.graphs.insert_with(new).ok_or(OUT_OF_MEMORY)
    }

    /// Adds a node. All that it depends on must be of its graph, each named once.
    pub(crate) fn add(
        &mut self,
        graph: Handle,
        dependencies: Vec<Dependency>,
        operation: Operation,
        made_by: Side,
    ) -> Result<Handle, CUresult> {
        self.check_new(graph, &dependencies, operation.kind())?;
        let local_id = match self.graphs.get_mut(graph) {
            Some(graph) => {
                graph.next_local_id += 1;
                graph.next_local_id
            }
            None => return Err(INVALID_VALUE),
        };
        self.last_tools_id += 1;
        let tools_id = self.last_tools_id;
        let child = match &operation {
            Operation::Child(child) => Some(*child),
            _ => None,
        };
        let node =
            Node { graph, local_id, tools_id, operation, dependencies, original: None, made_by };
        let handle = self.nodes.insert_with(|_| node).ok_or(OUT_OF_MEMORY)?;
        if let Some(graph) = self.graphs.get_mut(graph) {
            graph.nodes.push(handle);
        }
        if let Some(child) = child.and_then(|child| self.graphs.get_mut(child)) {
            child.parent = Some(handle);
        }
        Ok(handle)
    }

    /// Takes a node out of its graph and out of existence, with its edges.
    pub(crate) fn forget(&mut self, node: Handle) -> Option<Node> {
        let removed = self.nodes.remove(node)?;
        let others = match self.graphs.get_mut(removed.graph) {
            Some(graph) => {
                graph.nodes.retain(|&other| other != node);
                graph.nodes.clone()
            }
            None => Vec::new(),
        };
        for other in others {
            if let Some(other) = self.nodes.get_mut(other) {
                other.dependencies.retain(|dependency| dependency.node != node);
            }
        }
        Some(removed)
    }

    /// Checks what a new node of a graph shall depend on.
    pub(crate) fn check_dependencies(
        &self,
        graph: Handle,
        dependencies: &[Dependency],
    ) -> Result<(), CUresult> {
        let mut seen = std::collections::BTreeSet::new();
        for dependency in dependencies {
            let is_here = self.nodes.get(dependency.node).is_some_and(|node| node.graph == graph);
            if !is_here || !seen.insert(dependency.node) {
                return Err(INVALID_VALUE);
            }
        }
        Ok(())
    }

    /// Checks what a new node of that kind shall depend on, and how.
    pub(crate) fn check_new(
        &self,
        graph: Handle,
        dependencies: &[Dependency],
        kind: CUgraphNodeType,
    ) -> Result<(), CUresult> {
        self.check_dependencies(graph, dependencies)?;
        dependencies.iter().try_for_each(|dependency| self.check_kind(*dependency, kind))
    }

    /// Checks an edge's data: what isn't ordinary joins kernels only.
    fn check_kind(&self, from: Dependency, to: CUgraphNodeType) -> Result<(), CUresult> {
        const KERNEL: CUgraphNodeType = CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;
        let data = from.data;
        let from_kernel =
            self.nodes.get(from.node).is_some_and(|node| node.operation.kind() == KERNEL);
        let is_programmatic = data.type_ == 1 && from_kernel && to == KERNEL;
        // A port of a kernel orders whatever comes after.
        let is_port = data.type_ == 0 && data.to_port == 0 && data.from_port <= 2 && from_kernel;
        if data.reserved == [0; 5] && (from.is_full() || is_programmatic || is_port) {
            return Ok(());
        }
        Err(INVALID_VALUE)
    }

    /// Adds an edge. One that is there, or of a node to itself, is refused; one that makes a larger
    /// circle is taken, and its graph can't be instantiated (measured).
    pub(crate) fn connect(
        &mut self,
        graph: Handle,
        from: Handle,
        to: Handle,
        data: CUgraphEdgeData,
    ) -> Result<(), CUresult> {
        let is_here = |node| self.nodes.get(node).is_some_and(|node: &Node| node.graph == graph);
        if !is_here(from) || !is_here(to) {
            return Err(INVALID_VALUE);
        }
        let kind = self.nodes.get(to).map(|node| node.operation.kind()).ok_or(INVALID_VALUE)?;
        self.check_kind(Dependency { node: from, data }, kind)?;
        if from == to {
            return Err(INVALID_VALUE);
        }
        let node = self.nodes.get_mut(to).ok_or(INVALID_VALUE)?;
        if node.dependencies.iter().any(|dependency| dependency.node == from) {
            return Err(INVALID_VALUE);
        }
        node.dependencies.push(Dependency { node: from, data });
        Ok(())
    }

    /// Removes an edge, which must be there.
    pub(crate) fn disconnect(
        &mut self,
        graph: Handle,
        from: Handle,
        to: Handle,
        data: CUgraphEdgeData,
    ) -> Result<(), CUresult> {
        let node = self.nodes.get_mut(to).filter(|node| node.graph == graph);
        let node = node.ok_or(INVALID_VALUE)?;
        let is_it = |dependency: &Dependency| {
            let Dependency { node, data: other } = *dependency;
            node == from
                && (other.type_, other.from_port, other.to_port)
                    == (data.type_, data.from_port, data.to_port)
        };
        let position = node.dependencies.iter().position(is_it).ok_or(INVALID_VALUE)?;
        node.dependencies.remove(position);
        Ok(())
    }

    /// Clones a graph with all graphs inside of it.
    pub(crate) fn duplicate(&mut self, graph: Handle, made_by: &Side) -> Result<Handle, CUresult> {
        let clone = self.create(made_by.clone())?;
        let mut clones = BTreeMap::new();
        for handle in self.nodes_of(graph) {
            let Some(node) = self.nodes.get(handle) else { continue };
            let (operation, made_by) = (node.operation.clone(), node.made_by.clone());
            let operation = match operation {
                Operation::Child(child) => Operation::Child(self.duplicate(child, &made_by)?),
                other => other,
            };
            let new = self.add(clone, Vec::new(), operation, made_by)?;
            clones.insert(handle, new);
            if let Some(new) = self.nodes.get_mut(new) {
                new.original = Some(handle);
            }
        }
        // A node may depend on one that was made after it.
        for (&original, &new) in &clones {
            let mut dependencies = self.dependencies_of(original);
            for dependency in &mut dependencies {
                dependency.node = clones.get(&dependency.node).copied().unwrap_or(0);
            }
            if let Some(new) = self.nodes.get_mut(new) {
                new.dependencies = dependencies;
            }
        }
        let objects = self.graphs.get(graph).map(|graph| graph.objects.clone());
        for (object, count) in objects.unwrap_or_default() {
            self.refer(clone, object, count);
        }
        Ok(clone)
    }
}

impl State {
    /// Returns a graph of the program's. A stale handle is reported.
    pub(crate) fn graph(&mut self, handle: Handle) -> Result<&mut Graph, CUresult> {
        if self.graphs.graphs.get(handle).is_none() {
            if let Some(ended) = self.graphs.graphs.ended(handle) {
                self.stale("hGraph", "the graph was destroyed; a real driver crashes", ended);
            }
            return Err(INVALID_VALUE);
        }
        self.graphs.graphs.get_mut(handle).ok_or(INVALID_VALUE)
    }

    /// Returns a node. A stale handle is reported.
    pub(crate) fn node(&mut self, handle: Handle) -> Result<&mut Node, CUresult> {
        if self.graphs.nodes.get(handle).is_none() {
            if let Some(ended) = self.graphs.nodes.ended(handle) {
                self.stale("hNode", "the node was destroyed; a real driver crashes", ended);
            }
            return Err(INVALID_VALUE);
        }
        self.graphs.nodes.get_mut(handle).ok_or(INVALID_VALUE)
    }

    /// Destroys a node, and what belongs to it.
    pub(crate) fn destroy_node(&mut self, node: Handle) {
        match self.graphs.forget(node).map(|node| node.operation) {
            Some(Operation::Child(child)) => self.destroy_graph(child),
            Some(Operation::Allocate(memory)) => self.leave_memory(memory),
            _ => {}
        }
    }

    /// Destroys a graph with its nodes, and lets go of its objects.
    pub(crate) fn destroy_graph(&mut self, graph: Handle) {
        for node in self.graphs.nodes_of(graph) {
            self.destroy_node(node);
        }
        let Some(graph) = self.graphs.graphs.remove(graph) else { return };
        for (object, count) in graph.objects {
            self.release_object(object, count, true);
        }
    }
}
