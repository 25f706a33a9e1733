//! Graphs: captured and built, launched again and again, with what is wrong in them found.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;

fn fill(graph: CUgraph, before: &[CUgraphNode], dst: CUdeviceptr, value: u32) -> CUgraphNode {
    let mut node = ptr::null_mut();
    let fill =
        CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, elementSize: 1, width: 64, height: 1 };
    let context = ptr::null_mut();
    ok!(cuGraphAddMemsetNode(&mut node, graph, before.as_ptr(), before.len(), &fill, context));
    node
}

fn copy(graph: CUgraph, before: &[CUgraphNode], to: CUdeviceptr, from: CUdeviceptr) -> CUgraphNode {
    let mut copy = CUDA_MEMCPY3D::zeroed();
    copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    (copy.srcDevice, copy.dstDevice) = (from, to);
    (copy.WidthInBytes, copy.Height, copy.Depth) = (64, 1, 1);
    let (mut node, context) = (ptr::null_mut(), ptr::null_mut());
    ok!(cuGraphAddMemcpyNode(&mut node, graph, before.as_ptr(), before.len(), &copy, context));
    node
}

fn graph() -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}

fn instantiate(graph: CUgraph) -> CUgraphExec {
    let mut exec = ptr::null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

#[test]
fn a_graph_is_made_executable_in_a_context() {
    on_every_scheduler!(Config::new(), || {
        start();
        let graph = graph();
        let memory = alloc(64);
        fill(graph, &[], memory, 7);
        let (mut context, mut exec) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuCtxGetCurrent(&mut context));
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        // Measured.
        assert_eq!(code!(cuGraphInstantiateWithFlags(&mut exec, graph, 0)), 201);
        ok!(cuCtxSetCurrent(context));
        ok!(cuGraphExecDestroy(instantiate(graph)));
        ok!(cuGraphDestroy(graph));
        free(memory);
        end();
    });
}

#[test]
fn a_built_graph_runs_in_the_order_of_its_edges() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, graph) = (stream(1), graph());
        let (first, second) = (alloc(64), alloc(64));
        let filled = fill(graph, &[], first, 7);
        let copied = copy(graph, &[filled], second, first);
        fill(graph, &[copied], first, 9);
        // An edge that is there, and an edge of a node to itself.
        for (from, to) in [(filled, copied), (filled, filled)] {
            assert_eq!(code!(cuGraphAddDependencies(graph, &from, &to, 1)), 1);
        }
        let exec = instantiate(graph);
        ok!(cuGraphDestroy(graph));
        for _ in 0..3 {
            ok!(cuGraphLaunch(exec, on));
            ok!(cuStreamSynchronize(on));
            assert_eq!((read(first, 64), read(second, 64)), (vec![9; 64], vec![7; 64]));
            write(second, &[0; 64]);
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuStreamDestroy_v2(on));
        free(first);
        free(second);
        end();
    });
}

/// Looks at what the manual says of a graph with a circle: a node of it is named, nor can it be
/// instantiated inside of another graph, and it updates nothing.
fn refused_in_all_ways(
    whole: CUgraph,
    outer: CUgraph,
    exec: CUgraphExec,
    circle: [CUgraphNode; 2],
) {
    let (mut refused, mut wrong, log) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    assert_eq!(code!(cuGraphInstantiate_v2(&mut refused, whole, &mut wrong, log, 0)), 1);
    assert!(circle.contains(&wrong));
    let mut asked = CUDA_GRAPH_INSTANTIATE_PARAMS::zeroed();
    assert_eq!(code!(cuGraphInstantiateWithParams(&mut refused, whole, &mut asked)), 1);
    let structure = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    assert_eq!((asked.result_out, asked.hErrNode_out), (structure, wrong));
    let mut child = ptr::null_mut();
    ok!(cuGraphAddChildGraphNode(&mut child, outer, ptr::null(), 0, whole));
    assert_eq!(code!(cuGraphInstantiateWithFlags(&mut refused, outer, 0)), 1);
    let mut result = CUgraphExecUpdateResultInfo::zeroed();
    assert_eq!(code!(cuGraphExecUpdate_v2(exec, whole, &mut result)), 910);
}

#[test]
fn a_circle_is_taken_and_not_instantiated() {
    isolated!(Config::new(), || {
        start();
        let (whole, memory) = (graph(), alloc(64));
        let first = fill(whole, &[], memory, 1);
        let second = fill(whole, &[first], memory, 2);
        let third = fill(whole, &[second], memory, 3);
        let exec = instantiate(whole);
        // Measured, both.
        ok!(cuGraphAddDependencies(whole, &third, &second, 1));
        let mut refused = ptr::null_mut();
        assert_eq!(code!(cuGraphInstantiateWithFlags(&mut refused, whole, 0)), 1);
        let outer = graph();
        if !cuda_sim::is_on_device() {
            refused_in_all_ways(whole, outer, exec, [second, third]);
        }
        ok!(cuGraphRemoveDependencies(whole, &third, &second, 1));
        let mut result = CUgraphExecUpdateResultInfo::zeroed();
        ok!(cuGraphExecUpdate_v2(exec, whole, &mut result));
        let again = instantiate(whole);
        for exec in [exec, again] {
            ok!(cuGraphLaunch(exec, LEGACY));
            ok!(cuCtxSynchronize());
            assert_eq!(read(memory, 64), [3; 64]);
            ok!(cuGraphExecDestroy(exec));
        }
        for graph in [outer, whole] {
            ok!(cuGraphDestroy(graph));
        }
        free(memory);
        end();
    });
}

#[test]
fn flags_of_an_instantiation_are_checked() {
    isolated!(Config::new(), || {
        start();
        let (graph, mut exec, mut told) = (graph(), ptr::null_mut(), 9);
        // Freed by each launch; no flag; launched by the device, with and without the first.
        for (flags, answer) in [(1, 0), (16, 1), (4, 801), (5, 1)] {
            // What the device launches is not simulated.
            if flags == 4 && cuda_sim::is_on_device() {
                continue;
            }
            assert_eq!(code!(cuGraphInstantiateWithFlags(&mut exec, graph, flags)), answer);
            if answer == 0 {
                ok!(cuGraphExecGetFlags(exec, &mut told));
                assert_eq!(told, flags);
                ok!(cuGraphExecDestroy(exec));
            }
        }
        ok!(cuGraphDestroy(graph));
        end();
    });
}

#[test]
fn a_captured_fork_runs_as_it_was_captured() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, forked) = (stream(1), stream(1));
        let (fork, join) = (event(), event());
        let (first, second) = (alloc(64), alloc(64));
        let mut inner = CUdeviceptr(0);
        ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(0)));
        ok!(cuMemsetD8Async(first, 3, 64, on));
        ok!(cuEventRecord(fork, on));
        ok!(cuStreamWaitEvent(forked, fork, 0));
        ok!(cuMemcpyDtoDAsync_v2(second, first, 64, forked));
        ok!(cuEventRecord(join, forked));
        ok!(cuMemAllocAsync(&mut inner, 64, on));
        ok!(cuMemcpyDtoDAsync_v2(inner, first, 64, on));
        ok!(cuMemFreeAsync(inner, on));
        ok!(cuStreamWaitEvent(on, join, 0));
        ok!(cuMemsetD8Async(first, 4, 64, on));
        let mut graph = ptr::null_mut();
        ok!(cuStreamEndCapture(on, &mut graph));
        let mut count = 0;
        ok!(cuGraphGetNodes(graph, ptr::null_mut(), &mut count));
        assert_eq!(count, 6);
        let exec = instantiate(graph);
        for _ in 0..3 {
            ok!(cuGraphLaunch(exec, on));
            ok!(cuStreamSynchronize(on));
            assert_eq!((read(first, 64), read(second, 64)), (vec![4; 64], vec![3; 64]));
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        for stream in [on, forked] {
            ok!(cuStreamDestroy_v2(stream));
        }
        for event in [fork, join] {
            ok!(cuEventDestroy_v2(event));
        }
        free(first);
        free(second);
        end();
    });
}

#[test]
fn nodes_that_nothing_orders_race_and_freed_memory_is_named() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (on, graph) = (stream(1), graph());
        let memory = alloc(64);
        fill(graph, &[], memory, 1);
        fill(graph, &[], memory, 2);
        let exec = instantiate(graph);
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 0);
        ok!(cuGraphLaunch(exec, on));
        ok!(cuStreamSynchronize(on));
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 1, "{}", cuda_sim::report());
        free(memory);
        ok!(cuGraphLaunch(exec, on));
        ok!(cuStreamSynchronize(on));
        let report = cuda_sim::report();
        let found = report.findings.iter().find(|of| of.kind == FindingKind::UseAfterFree);
        let found = found.map(|of| (of.later.call, of.earlier.as_ref().map(|side| side.call)));
        assert_eq!(found, Some(("cuGraphAddMemsetNode", Some("cuMemFree_v2"))), "{report}");
        let leaks = cuda_sim::finish();
        // Context, stream, graph, executable graph.
        assert_eq!(leaks.count(FindingKind::Leak), 4, "{leaks}");
    });
}
