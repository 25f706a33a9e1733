//! Random graphs of fills and copies: whatever order their edges leave, the bytes are those of a
//! serial order, and nothing is found.

#![expect(clippy::indexing_slicing, reason = "what several tests use is a test too")]

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, Scheduler, isolated};
use cuda_sys::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

const BUFFERS: usize = 5;
const BYTES: usize = 32;

/// Is what a node does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Fill { to: usize, value: u8 },
    Copy { to: usize, from: usize },
}

impl Action {
    fn writes(self) -> usize {
        match self {
            Self::Fill { to, .. } | Self::Copy { to, .. } => to,
        }
    }

    fn reads(self) -> Option<usize> {
        match self {
            Self::Fill { .. } => None,
            Self::Copy { from, .. } => Some(from),
        }
    }

    /// Tells whether the order of both matters.
    fn conflicts(self, other: Self) -> bool {
        self.writes() == other.writes()
            || self.reads() == Some(other.writes())
            || other.reads() == Some(self.writes())
    }

    fn run(self, buffers: &mut [u8; BUFFERS]) {
        match self {
            Self::Fill { to, value } => buffers[to] = value,
            Self::Copy { to, from } => buffers[to] = buffers[from],
        }
    }

    fn add(self, graph: CUgraph, before: &[CUgraphNode], memory: &[CUdeviceptr]) -> CUgraphNode {
        let (mut node, context) = (ptr::null_mut(), ptr::null_mut());
        let (first, count) = (before.as_ptr(), before.len());
        match self {
            Self::Fill { to, value } => {
                let mut fill = CUDA_MEMSET_NODE_PARAMS::zeroed();
                (fill.dst, fill.value, fill.elementSize) = (memory[to], value.into(), 1);
                (fill.width, fill.height) = (BYTES, 1);
                ok!(cuGraphAddMemsetNode(&mut node, graph, first, count, &fill, context));
            }
            Self::Copy { to, from } => {
                let mut copy = CUDA_MEMCPY3D::zeroed();
                copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
                copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
                (copy.srcDevice, copy.dstDevice) = (memory[from], memory[to]);
                (copy.WidthInBytes, copy.Height, copy.Depth) = (BYTES, 1, 1);
                ok!(cuGraphAddMemcpyNode(&mut node, graph, first, count, &copy, context));
            }
        }
        node
    }
}

/// Makes up to 24 nodes, each with numbers that say of which others, needlessly, it comes after.
fn any_nodes() -> impl Strategy<Value = Vec<(Action, u32)>> {
    let fill = (0..BUFFERS, any::<u8>()).prop_map(|(to, value)| Action::Fill { to, value });
    let copy = (0..BUFFERS, 1..BUFFERS)
        .prop_map(|(to, by)| Action::Copy { to, from: (to + by) % BUFFERS });
    // One extra edge of eight.
    let extra = (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(a, b, c)| a & b & c);
    prop::collection::vec((prop_oneof![fill, copy], extra), 1..24)
}

/// Builds the graph. Nodes whose order matters have an edge, unless a path is there already.
fn build(nodes: &[(Action, u32)], memory: &[CUdeviceptr]) -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    let (mut handles, mut all_before): (Vec<CUgraphNode>, Vec<u32>) = (Vec::new(), Vec::new());
    for (index, &(action, extra)) in nodes.iter().enumerate() {
        let (mut before, mut reached) = (Vec::new(), 0_u32);
        for other in (0..index).rev() {
            let bit = 1 << other;
            let needed = action.conflicts(nodes[other].0) && reached & bit == 0;
            if needed || extra & bit != 0 {
                before.push(handles[other]);
                reached |= bit | all_before[other];
            }
        }
        handles.push(action.add(graph, &before, memory));
        all_before.push(reached);
    }
    graph
}

fn run(nodes: &[(Action, u32)]) {
    let (on, memory) = (stream(1), [(); BUFFERS].map(|()| alloc(BYTES)));
    let mut model = [0; BUFFERS];
    for &memory in &memory {
        write(memory, &[0; BYTES]);
    }
    let graph = build(nodes, &memory);
    let mut exec = ptr::null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, on));
        nodes.iter().for_each(|(action, _)| action.run(&mut model));
    }
    ok!(cuStreamSynchronize(on));
    for (&memory, value) in memory.iter().zip(model) {
        assert_eq!(read(memory, BYTES), [value; BYTES]);
        free(memory);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(on));
    assert!(cuda_sim::report().findings.is_empty(), "{}", cuda_sim::report());
}

fn cases() {
    start();
    let cases = Cases { cases: 64, failure_persistence: None, ..Cases::default() };
    let ran = TestRunner::new(cases).run(&any_nodes(), |nodes| {
        run(&nodes);
        Ok(())
    });
    assert_eq!(ran, Ok(()));
    end();
}

#[test]
fn in_some_serial_order_when_eager() {
    isolated!(Config::new(), cases);
}

#[test]
fn in_some_serial_order_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), cases);
}

#[test]
fn in_some_serial_order_when_seeded() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(3)), cases);
}

#[test]
fn in_some_serial_order_with_another_seed() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(4)), cases);
}
