//! Nodes of each kind but kernels: set in graphs and executable graphs, and what launches do then.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;

fn new() -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}

fn filling(dst: CUdeviceptr, value: u32, width: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, elementSize: 1, width, height: 1 }
}

fn fill(graph: CUgraph, before: &[CUgraphNode], dst: CUdeviceptr, value: u32) -> CUgraphNode {
    let (mut node, context) = (ptr::null_mut(), ptr::null_mut());
    let fill = filling(dst, value, 64);
    ok!(cuGraphAddMemsetNode(&mut node, graph, before.as_ptr(), before.len(), &fill, context));
    node
}

fn instantiate(graph: CUgraph) -> CUgraphExec {
    let mut exec = ptr::null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

fn run(exec: CUgraphExec, on: CUstream) {
    ok!(cuGraphLaunch(exec, on));
    ok!(cuStreamSynchronize(on));
}

#[test]
fn an_executable_graph_takes_the_parameters_of_a_graph_like_it() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, first, second) = (stream(1), alloc(64), alloc(64));
        let graph = new();
        let node = fill(graph, &[], first, 1);
        fill(graph, &[node], second, 2);
        let exec = instantiate(graph);
        let update = |graph: CUgraph| {
            let mut result = CUgraphExecUpdateResultInfo::zeroed();
            let answer = code!(cuGraphExecUpdate_v2(exec, graph, &mut result));
            (answer, result.result.0, result.errorNode)
        };
        // The same nodes and edges.
        let other = new();
        let node = fill(other, &[], first, 3);
        fill(other, &[node], second, 4);
        assert_eq!(update(other), (0, 0, ptr::null_mut()));
        run(exec, on);
        assert_eq!((read(first, 64), read(second, 64)), (vec![3; 64], vec![4; 64]));
        // Other edges, another number of nodes, another kind: nothing of it is taken.
        let wrong = new();
        fill(wrong, &[], first, 9);
        let free_node = fill(wrong, &[], second, 9);
        assert_eq!(update(wrong), (910, 2, free_node));
        fill(other, &[], first, 9);
        assert_eq!(update(other), (910, 2, ptr::null_mut()));
        // Measured: that there are fewer goes before what they are.
        let fewer = new();
        let mut single = ptr::null_mut();
        ok!(cuGraphAddEmptyNode(&mut single, fewer, ptr::null(), 0));
        assert_eq!(update(fewer), (910, 2, ptr::null_mut()));
        let mixed = new();
        let mut empty = ptr::null_mut();
        ok!(cuGraphAddEmptyNode(&mut empty, mixed, ptr::null(), 0));
        fill(mixed, &[empty], second, 9);
        assert_eq!(update(mixed), (910, 3, empty));
        run(exec, on);
        assert_eq!((read(first, 64), read(second, 64)), (vec![3; 64], vec![4; 64]));
        ok!(cuGraphExecDestroy(exec));
        for graph in [graph, other, wrong, mixed, fewer] {
            ok!(cuGraphDestroy(graph));
        }
        ok!(cuStreamDestroy_v2(on));
        free(first);
        free(second);
        end();
    });
}

#[test]
fn nodes_of_an_executable_graph_are_set_alone() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, first, second, graph) = (stream(1), alloc(64), alloc(64), new());
        let filled = fill(graph, &[], first, 1);
        let mut copy = CUDA_MEMCPY3D::zeroed();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (copy.srcDevice, copy.dstDevice) = (first, second);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (64, 1, 1);
        let (mut copied, context) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuGraphAddMemcpyNode(&mut copied, graph, &filled, 1, &copy, context));
        let exec = instantiate(graph);
        let wanted = filling(first, 5, 64);
        ok!(cuGraphExecMemsetNodeSetParams(exec, filled, &wanted, context));
        copy.WidthInBytes = 32;
        ok!(cuGraphExecMemcpyNodeSetParams(exec, copied, &copy, context));
        // Neither another kind, nor a node of which the executable graph has none.
        assert_eq!(code!(cuGraphExecMemsetNodeSetParams(exec, copied, &wanted, context)), 1);
        let late = fill(graph, &[copied], first, 8);
        assert_eq!(code!(cuGraphExecMemsetNodeSetParams(exec, late, &wanted, context)), 1);
        write(second, &[0; 64]);
        run(exec, on);
        assert_eq!(read(second, 64), [vec![5; 32], vec![0; 32]].concat());
        // The graph's own nodes are as before.
        let mut told = CUDA_MEMSET_NODE_PARAMS::zeroed();
        ok!(cuGraphMemsetNodeGetParams(filled, &mut told));
        assert_eq!((told.dst, told.value, told.width), (first, 1, 64));
        let again = instantiate(graph);
        run(again, on);
        assert_eq!((read(first, 64), read(second, 64)), (vec![8; 64], vec![1; 64]));
        for exec in [exec, again] {
            ok!(cuGraphExecDestroy(exec));
        }
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamDestroy_v2(on));
        free(first);
        free(second);
        end();
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

extern "system" fn count(by: *mut c_void) {
    CALLS.fetch_add(u32::try_from(by.addr()).unwrap_or(0), Ordering::Relaxed);
}

#[test]
fn graphs_inside_are_updated_and_compared_by_themselves() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, memory) = (stream(1), alloc(64));
        // A fill inside of a node, and another behind it.
        let nested = |value: u32, inner_count: usize, behind: u32| {
            let (inner, outer, mut child) = (new(), new(), ptr::null_mut());
            let mut last = Vec::new();
            for _ in 0..inner_count {
                last = vec![fill(inner, &last, memory, value)];
            }
            ok!(cuGraphAddChildGraphNode(&mut child, outer, ptr::null(), 0, inner));
            ok!(cuGraphDestroy(inner));
            fill(outer, &[child], at(memory, 0), behind);
            outer
        };
        let (graph, like_it, longer) = (nested(1, 1, 2), nested(3, 1, 4), nested(5, 2, 6));
        let exec = instantiate(graph);
        let update = |graph| {
            let mut result = CUgraphExecUpdateResultInfo::zeroed();
            (code!(cuGraphExecUpdate_v2(exec, graph, &mut result)), result.result.0)
        };
        assert_eq!(update(like_it), (0, 0));
        run(exec, on);
        assert_eq!(read(memory, 64), [4; 64]);
        assert_eq!(update(longer), (910, 2));
        // As many nodes, of another kind inside.
        let (inner, mixed) = (new(), new());
        let (mut empty, mut child) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuGraphAddEmptyNode(&mut empty, inner, ptr::null(), 0));
        ok!(cuGraphAddChildGraphNode(&mut child, mixed, ptr::null(), 0, inner));
        ok!(cuGraphDestroy(inner));
        fill(mixed, &[child], memory, 7);
        assert_eq!(update(mixed), (910, 3));
        ok!(cuGraphDestroy(mixed));
        run(exec, on);
        assert_eq!(read(memory, 64), [4; 64]);
        ok!(cuGraphExecDestroy(exec));
        for graph in [graph, like_it, longer] {
            ok!(cuGraphDestroy(graph));
        }
        ok!(cuStreamDestroy_v2(on));
        free(memory);
        end();
    });
}

#[test]
fn a_node_that_is_gone_is_not_set_in_the_executable_graph() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(1, || {
        start();
        let (on, memory, graph) = (stream(1), alloc(64), new());
        let (filled, other) = (fill(graph, &[], memory, 1), fill(graph, &[], at(memory, 0), 1));
        ok!(cuGraphAddDependencies(graph, &filled, &other, 1));
        let (exec, context) = (instantiate(graph), ptr::null_mut());
        let wanted = filling(memory, 5, 64);
        ok!(cuGraphExecMemsetNodeSetParams(exec, filled, &wanted, context));
        ok!(cuGraphDestroyNode(other));
        ok!(cuGraphNodeSetEnabled(exec, filled, 1));
        assert_eq!(cuda_sim::report().findings.len(), 0);
        // Measured.
        assert_eq!(code!(cuGraphExecMemsetNodeSetParams(exec, other, &wanted, context)), 1);
        assert_eq!(code!(cuGraphNodeSetEnabled(exec, other, 0)), 1);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::StaleHandle), 2, "{report}");
        // It runs as it was.
        run(exec, on);
        assert_eq!(read(memory, 64), [1; 64]);
    });
}

#[test]
fn graphs_in_graphs_host_functions_and_events() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, memory, inner, graph) = (stream(1), alloc(64), new(), new());
        let event = event();
        fill(inner, &[], memory, 6);
        let (mut child, mut host, mut recorded) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        ok!(cuGraphAddChildGraphNode(&mut child, graph, ptr::null(), 0, inner));
        let by = ptr::without_provenance_mut(1);
        let call = CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: by };
        ok!(cuGraphAddHostNode(&mut host, graph, &child, 1, &call));
        ok!(cuGraphAddEventRecordNode(&mut recorded, graph, &host, 1, event));
        // The node has a clone, which belongs to it.
        let mut clone = ptr::null_mut();
        ok!(cuGraphChildGraphNodeGetGraph(child, &mut clone));
        assert_ne!(clone, inner);
        assert_eq!(code!(cuGraphDestroy(clone)), 1);
        let exec = instantiate(graph);
        ok!(cuGraphLaunch(exec, on));
        ok!(cuEventSynchronize(event));
        assert_eq!((CALLS.load(Ordering::Relaxed), read(memory, 64)), (1, vec![6; 64]));
        // Other parameters, for the executable graph.
        let other = new();
        fill(other, &[], memory, 7);
        ok!(cuGraphExecChildGraphNodeSetParams(exec, child, other));
        let call = CUDA_HOST_NODE_PARAMS { userData: ptr::without_provenance_mut(10), ..call };
        ok!(cuGraphExecHostNodeSetParams(exec, host, &call));
        ok!(cuGraphLaunch(exec, on));
        ok!(cuEventSynchronize(event));
        assert_eq!((CALLS.load(Ordering::Relaxed), read(memory, 64)), (11, vec![7; 64]));
        fill(other, &[], memory, 8);
        assert_eq!(code!(cuGraphExecChildGraphNodeSetParams(exec, child, other)), 1);
        ok!(cuStreamSynchronize(on));
        ok!(cuGraphExecDestroy(exec));
        for graph in [graph, inner, other] {
            ok!(cuGraphDestroy(graph));
        }
        ok!(cuEventDestroy_v2(event));
        ok!(cuStreamDestroy_v2(on));
        free(memory);
        end();
    });
}

#[test]
fn memory_of_a_graph_lives_from_its_launch_to_its_free() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, graph) = (stream(1), new());
        let mut wanted = CUDA_MEM_ALLOC_NODE_PARAMS::zeroed();
        wanted.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.poolProps.location = CUmemLocation::device(0);
        wanted.bytesize = 64;
        let mut allocated = ptr::null_mut();
        ok!(cuGraphAddMemAllocNode(&mut allocated, graph, ptr::null(), 0, &mut wanted));
        let memory = wanted.dptr;
        fill(graph, &[allocated], memory, 4);
        let exec = instantiate(graph);
        // Not before.
        assert_eq!(code!(cuMemsetD8Async(memory, 1, 64, on)), 1);
        run(exec, on);
        assert_eq!(read(memory, 64), [4; 64]);
        // Not again while it is there.
        assert_eq!(code!(cuGraphLaunch(exec, on)), 1);
        ok!(cuMemFreeAsync(memory, on));
        run(exec, on);
        free(memory);
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamDestroy_v2(on));
        end();
    });
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

extern "system" fn destroy(_: *mut c_void) {
    DESTROYED.fetch_add(1, Ordering::Release);
}

/// Waits until so many objects were destroyed.
fn destroyed(wanted: u32) -> bool {
    let begun = Instant::now();
    while DESTROYED.load(Ordering::Acquire) < wanted {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::yield_now();
    }
    DESTROYED.load(Ordering::Acquire) == wanted
}

#[test]
fn an_object_lives_as_long_as_a_graph_has_it() {
    isolated!(Config::new(), || {
        start();
        let (graph, on, data) = (new(), stream(1), ptr::null_mut());
        let mut object = ptr::null_mut();
        assert_eq!(code!(cuUserObjectCreate(&mut object, data, Some(destroy), 1, 0)), 1);
        assert_eq!(code!(cuUserObjectCreate(&mut object, data, Some(destroy), 0, 1)), 1);
        ok!(cuUserObjectCreate(&mut object, data, Some(destroy), 1, 1));
        // The program's reference becomes the graph's.
        ok!(cuGraphRetainUserObject(graph, object, 1, 1));
        let exec = instantiate(graph);
        ok!(cuGraphDestroy(graph));
        run(exec, on);
        assert_eq!(DESTROYED.load(Ordering::Acquire), 0);
        ok!(cuGraphExecDestroy(exec));
        assert!(destroyed(1));
        // The program's own, counted.
        ok!(cuUserObjectCreate(&mut object, data, Some(destroy), 2, 1));
        ok!(cuUserObjectRelease(object, 1));
        ok!(cuUserObjectRetain(object, 1));
        ok!(cuUserObjectRelease(object, 1));
        assert_eq!(DESTROYED.load(Ordering::Acquire), 1);
        ok!(cuUserObjectRelease(object, 1));
        assert!(destroyed(2));
        ok!(cuStreamDestroy_v2(on));
        end();
    });
}

/// Makes an object of which a graph has the only reference.
fn given_away(graph: CUgraph) -> CUuserObject {
    let mut object = ptr::null_mut();
    ok!(cuUserObjectCreate(&mut object, ptr::null_mut(), Some(destroy), 1, 1));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    object
}

#[test]
fn more_references_are_released_than_there_are() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        // Measured: the program's release goes to the graph's reference, and ends the object.
        let first = new();
        let object = given_away(first);
        ok!(cuUserObjectRelease(object, 1));
        assert!(destroyed(1));
        let report = cuda_sim::report();
        let [found] = &report.findings[..] else { panic!("{report}") };
        assert_eq!(
            (found.kind, found.later.call),
            (FindingKind::DoubleFree, "cuUserObjectRelease")
        );
        let earlier = found.earlier.as_ref().map(|side| side.call);
        assert_eq!(earlier, Some("cuGraphRetainUserObject"));
        // Measured: it is gone, and the graph may still release it.
        ok!(cuGraphReleaseUserObject(first, object, 5));
        assert_eq!(cuda_sim::report().count(FindingKind::StaleHandle), 1);
        ok!(cuGraphDestroy(first));
        // A graph has fewer than it releases.
        let (second, third) = (new(), new());
        let object = given_away(second);
        ok!(cuGraphRetainUserObject(third, object, 2, 0));
        ok!(cuGraphReleaseUserObject(second, object, 2));
        assert_eq!(cuda_sim::report().count(FindingKind::DoubleFree), 2);
        assert_eq!(DESTROYED.load(Ordering::Acquire), 1);
        ok!(cuGraphReleaseUserObject(third, object, 1));
        ok!(cuGraphDestroy(second));
        assert_eq!(DESTROYED.load(Ordering::Acquire), 1);
        ok!(cuGraphDestroy(third));
        assert!(destroyed(2));
        assert_eq!(cuda_sim::report().findings.len(), 3, "{}", cuda_sim::report());
        // What was never made is no object.
        assert_eq!(code!(cuGraphReleaseUserObject(new(), ptr::without_provenance_mut(8), 1)), 1);
    });
}
