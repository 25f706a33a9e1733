//! Nodes of stream memory operations: added, told, set, captured and launched.

mod common;

use std::ptr;
use std::time::Duration;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;

const BATCH: CUgraphNodeType = CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
const NOR: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR.0;

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

fn zeroed(bytes: usize) -> CUdeviceptr {
    let memory = alloc(bytes);
    write(memory, &vec![0; bytes]);
    memory
}

/// Waits until a word is at least that.
fn wait(address: CUdeviceptr, value: u32) -> CUstreamBatchMemOpParams {
    wait_as(address, value, 0)
}

fn wait_as(address: CUdeviceptr, value: u32, flags: u32) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::zeroed();
    let mut wait = CUstreamMemOpWaitValueParams_st::zeroed();
    wait.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32;
    (wait.address, wait.flags) = (address, flags);
    wait.set_value(value);
    operation.waitValue = wait;
    operation
}

fn set(address: CUdeviceptr, value: u64) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::zeroed();
    let mut write = CUstreamMemOpWriteValueParams_st::zeroed();
    write.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_64;
    write.address = address;
    write.set_value64(value);
    operation.writeValue = write;
    operation
}

fn barrier(flags: u32) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::zeroed();
    operation.memoryBarrier.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER;
    operation.memoryBarrier.flags = flags;
    operation
}

fn parameters(operations: &mut [CUstreamBatchMemOpParams]) -> CUDA_BATCH_MEM_OP_NODE_PARAMS {
    let mut parameters = CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed();
    parameters.count = u32::try_from(operations.len()).unwrap_or(0);
    parameters.paramArray = operations.as_mut_ptr();
    parameters
}

/// Adds a node, and returns the code and the node.
fn add(
    graph: CUgraph,
    before: &[CUgraphNode],
    operations: &mut [CUstreamBatchMemOpParams],
) -> (u32, CUgraphNode) {
    let (mut node, parameters) = (ptr::null_mut(), parameters(operations));
    let (nodes, count) = (before.as_ptr(), before.len());
    (code!(cuGraphAddBatchMemOpNode(&mut node, graph, nodes, count, &parameters)), node)
}

/// Returns the first operation that a node keeps.
fn first(operations: *const CUstreamBatchMemOpParams) -> CUstreamBatchMemOpParams {
    // SAFETY: the node that told of them has at least one.
    unsafe { *operations }
}

/// Returns the number that the first operation writes, which is a write of 64 bits.
fn written(operations: *const CUstreamBatchMemOpParams) -> u64 {
    // SAFETY: it is a write.
    let write = unsafe { first(operations).writeValue };
    // SAFETY: 64 bits of its value were set.
    unsafe { write.value64() }
}

fn kind(node: CUgraphNode) -> CUgraphNodeType {
    let mut kind = CUgraphNodeType(99);
    ok!(cuGraphNodeGetType(node, &mut kind));
    kind
}

fn words(memory: CUdeviceptr, count: usize) -> Vec<u64> {
    let bytes = read(memory, 8 * count);
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or([9; 8])))
        .collect()
}

#[test]
fn a_node_waits_and_writes_in_its_order() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, other, graph, memory) = (stream(1), stream(1), graph(), zeroed(64));
        let (gate, first, second) = (memory, at(memory, 8), at(memory, 16));
        let (answer, opened) = add(graph, &[], &mut [wait(gate, 1), barrier(0), set(first, 5)]);
        assert_eq!((answer, kind(opened)), (0, BATCH));
        // Behind it, in another node.
        assert_eq!(add(graph, &[opened], &mut [wait(first, 5), set(second, 6), set(gate, 0)]).0, 0);
        let exec = instantiate(graph);
        for _ in 0..3 {
            ok!(cuGraphLaunch(exec, on));
            assert_eq!(code!(cuStreamQuery(on)), 600);
            ok!(cuStreamWriteValue64_v2(other, gate, 1, 0));
            ok!(cuStreamSynchronize(on));
            assert_eq!(words(memory, 3), [0, 5, 6]);
            write(first, &[0; 16]);
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuCtxSynchronize());
        for stream in [on, other] {
            ok!(cuStreamDestroy_v2(stream));
        }
        free(memory);
        end();
    });
}

#[test]
fn operations_are_told_set_and_set_in_the_executable_graph_alone() {
    on_every_scheduler!(Config::new(), || {
        let context = start();
        let (on, graph, memory) = (stream(1), graph(), zeroed(64));
        let mut operations = [set(memory, 1), wait(memory, 1)];
        let mut given = parameters(&mut operations);
        given.ctx = context;
        let mut node = ptr::null_mut();
        ok!(cuGraphAddBatchMemOpNode(&mut node, graph, ptr::null(), 0, &given));
        // The node has a copy of them.
        operations.fill(barrier(0));
        let told = |node| {
            let mut told = CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed();
            ok!(cuGraphBatchMemOpNodeGetParams(node, &mut told));
            assert_eq!((told.ctx, told.count, told.flags), (context, 2, 0));
            written(told.paramArray)
        };
        assert_eq!(told(node), 1);
        let exec = instantiate(graph);
        let run = |exec| {
            ok!(cuGraphLaunch(exec, on));
            ok!(cuStreamSynchronize(on));
            words(memory, 2)
        };
        // Addresses, values and how waits compare may change.
        let mut wanted = [set(at(memory, 8), 3), wait_as(memory, 1, NOR)];
        given.paramArray = wanted.as_mut_ptr();
        ok!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &given));
        assert_eq!((told(node), run(exec)), (1, vec![0, 3]));
        // Context, number and kinds may not; nor may an operation that neither waits nor writes.
        let refused = |context, operations: &mut [CUstreamBatchMemOpParams]| {
            let mut wanted = parameters(operations);
            wanted.ctx = context;
            code!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &wanted))
        };
        assert_eq!(refused(ptr::null_mut(), &mut wanted), 1);
        assert_eq!(refused(context, &mut [set(memory, 1)]), 1);
        assert_eq!(refused(context, &mut [wait(memory, 1), set(memory, 1)]), 1);
        assert_eq!(refused(context, &mut [set(memory, 1), barrier(0)]), 1);
        let mut weak = set(memory, 1);
        weak.writeValue.flags = 1;
        assert_eq!(refused(context, &mut [weak, wait(memory, 1)]), 1);
        assert_eq!(run(exec), [0, 3]);
        // The node's own, for what is instantiated from then on.
        let mut wanted = [set(memory, 7), wait(memory, 7)];
        given.paramArray = wanted.as_mut_ptr();
        ok!(cuGraphBatchMemOpNodeSetParams(node, &given));
        assert_eq!(told(node), 7);
        let again = instantiate(graph);
        assert_eq!(run(again), [7, 3]);
        for exec in [exec, again] {
            ok!(cuGraphExecDestroy(exec));
        }
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamDestroy_v2(on));
        free(memory);
        end();
    });
}

#[test]
fn barriers_and_reductions_stay_as_they_are() {
    isolated!(Config::new(), || {
        start();
        let (graph, memory) = (graph(), zeroed(64));
        let (_, node) = add(graph, &[], &mut [barrier(0), set(memory, 1)]);
        let exec = instantiate(graph);
        let set_to = |operations: &mut [CUstreamBatchMemOpParams]| {
            code!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &parameters(operations)))
        };
        assert_eq!(set_to(&mut [barrier(1), set(memory, 2)]), 1);
        assert_eq!(set_to(&mut [barrier(0), set(memory, 2)]), 0);
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        free(memory);
        end();
    });
}

#[test]
fn the_call_for_nodes_of_any_kind_knows_them() {
    on_every_scheduler!(Config::new().version(Version::new(13, 2)), || {
        start();
        let (on, graph, memory, mut node) = (stream(1), graph(), zeroed(64), ptr::null_mut());
        let any = |operations: &mut [CUstreamBatchMemOpParams]| {
            let mut any = CUgraphNodeParams::zeroed();
            any.type_ = BATCH;
            let mut batch = CUDA_BATCH_MEM_OP_NODE_PARAMS_v2::zeroed();
            batch.count = u32::try_from(operations.len()).unwrap_or(0);
            batch.paramArray = operations.as_mut_ptr();
            any.set_memOp(batch);
            any
        };
        let mut one = [set(memory, 1)];
        ok!(cuGraphAddNode(&mut node, graph, ptr::null(), 0, &mut any(&mut one)));
        assert_eq!(kind(node), BATCH);
        let mut two = [set(memory, 2)];
        ok!(cuGraphNodeSetParams(node, &mut any(&mut two)));
        let mut told = CUgraphNodeParams::zeroed();
        ok!(cuGraphNodeGetParams(node, &mut told));
        // SAFETY: the node is of that kind.
        let batch = unsafe { told.memOp() };
        assert_eq!((told.type_, batch.count), (BATCH, 1));
        assert_eq!(written(batch.paramArray), 2);
        let exec = instantiate(graph);
        let mut three = [set(at(memory, 8), 3)];
        ok!(cuGraphExecNodeSetParams(exec, node, &mut any(&mut three)));
        ok!(cuGraphLaunch(exec, on));
        ok!(cuStreamSynchronize(on));
        assert_eq!(words(memory, 2), [0, 3]);
        // An update takes the graph's own.
        let mut result = CUgraphExecUpdateResultInfo::zeroed();
        ok!(cuGraphExecUpdate_v2(exec, graph, &mut result));
        ok!(cuGraphLaunch(exec, on));
        ok!(cuStreamSynchronize(on));
        assert_eq!(words(memory, 2), [2, 3]);
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamDestroy_v2(on));
        free(memory);
        end();
    });
}

#[test]
fn what_is_no_batch_is_refused() {
    isolated!(Config::new(), || {
        let context = start();
        let (graph, memory, empty) = (graph(), zeroed(64), &mut []);
        let mut flush = CUstreamBatchMemOpParams::zeroed();
        flush.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        let mut unknown = CUstreamBatchMemOpParams::zeroed();
        unknown.operation = CUstreamBatchMemOpType(77);
        assert_eq!(add(graph, &[], empty).0, 1);
        for (operation, answer) in
            [(set(at(memory, 4), 1), 1), (set(at(memory, 64), 1), 1), (unknown, 1), (flush, 801)]
        {
            assert_eq!(add(graph, &[], &mut [set(memory, 1), operation]).0, answer);
        }
        let (mut node, mut one) = (ptr::null_mut(), [set(memory, 1)]);
        let none: *const CUgraphNode = ptr::null();
        let mut wrong = parameters(&mut one);
        wrong.flags = 1;
        assert_eq!(code!(cuGraphAddBatchMemOpNode(&mut node, graph, none, 0, &wrong)), 1);
        (wrong.flags, wrong.paramArray) = (0, ptr::null_mut());
        assert_eq!(code!(cuGraphAddBatchMemOpNode(&mut node, graph, none, 0, &wrong)), 1);
        let (mut empty_node, mut told) = (ptr::null_mut(), CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed());
        ok!(cuGraphAddEmptyNode(&mut empty_node, graph, none, 0));
        assert_eq!(code!(cuGraphBatchMemOpNodeGetParams(empty_node, &mut told)), 1);
        let mut right = parameters(&mut one);
        right.ctx = context;
        assert_eq!(code!(cuGraphBatchMemOpNodeSetParams(empty_node, &right)), 1);
        let mut count = 9;
        ok!(cuGraphGetNodes(graph, ptr::null_mut(), &mut count));
        assert_eq!(count, 1);
        ok!(cuGraphDestroy(graph));
        free(memory);
        end();
    });
}

#[test]
fn a_capture_makes_one_node_of_a_batch() {
    on_every_scheduler!(Config::new(), || {
        let context = start();
        let (on, memory, mut captured) = (stream(1), zeroed(64), ptr::null_mut());
        ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(0)));
        let mut operations = [set(memory, 4), wait(memory, 4), set(at(memory, 8), 5)];
        ok!(cuStreamBatchMemOp_v2(on, 3, operations.as_mut_ptr(), 0));
        ok!(cuStreamBatchMemOp_v2(on, 0, ptr::null_mut(), 0));
        ok!(cuStreamWaitValue64_v2(on, at(memory, 8), 5, 0));
        ok!(cuStreamWriteValue32_v2(on, at(memory, 16), 6, 1));
        ok!(cuStreamEndCapture(on, &mut captured));
        let (mut nodes, mut count) = ([ptr::null_mut(); 8], 8);
        ok!(cuGraphGetNodes(captured, nodes.as_mut_ptr(), &mut count));
        let told: Vec<_> = nodes[..count]
            .iter()
            .map(|&node| {
                let mut told = CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed();
                ok!(cuGraphBatchMemOpNodeGetParams(node, &mut told));
                assert_eq!(told.ctx, context);
                // SAFETY: each operation begins with its kind.
                (told.count, unsafe { first(told.paramArray).operation })
            })
            .collect();
        use CUstreamBatchMemOpType as T;
        assert_eq!(
            told,
            [
                (3, T::CU_STREAM_MEM_OP_WRITE_VALUE_64),
                (1, T::CU_STREAM_MEM_OP_WAIT_VALUE_64),
                (1, T::CU_STREAM_MEM_OP_WRITE_VALUE_32),
            ]
        );
        let exec = instantiate(captured);
        for _ in 0..2 {
            ok!(cuGraphLaunch(exec, on));
            ok!(cuStreamSynchronize(on));
            assert_eq!(words(memory, 3), [4, 5, 6]);
            write(memory, &[0; 24]);
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(captured));
        ok!(cuStreamDestroy_v2(on));
        free(memory);
        end();
    });
}

#[test]
fn words_of_memory_that_is_gone_are_reported() {
    let config = Config::new().host_function_patience(Duration::from_millis(2));
    isolated!(config).unchecked().run_on_every_scheduler(1, || {
        start();
        let (on, writes, waits) = (stream(1), graph(), graph());
        let (memory, other) = (zeroed(64), zeroed(64));
        assert_eq!(add(writes, &[], &mut [set(memory, 1)]).0, 0);
        assert_eq!(add(waits, &[], &mut [wait(memory, 0), set(other, 1)]).0, 0);
        let execs = [writes, waits].map(instantiate);
        // As long as it is there, nothing is wrong.
        for exec in execs {
            ok!(cuGraphLaunch(exec, on));
        }
        ok!(cuStreamSynchronize(on));
        assert!(cuda_sim::report().findings.is_empty(), "{}", cuda_sim::report());
        free(memory);
        ok!(cuGraphLaunch(execs[0], on));
        ok!(cuStreamSynchronize(on));
        ok!(cuGraphLaunch(execs[1], on));
        assert_eq!(code!(cuStreamSynchronize(on)), 702);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::UseAfterFree), 2, "{report}");
        assert_eq!(report.count(FindingKind::Blocked), 1, "{report}");
        let blamed = report.findings.iter().filter(|it| it.kind == FindingKind::UseAfterFree);
        for found in blamed {
            let freed = found.earlier.as_ref().map(|side| side.call);
            assert_eq!(
                (found.later.call, freed),
                ("cuGraphAddBatchMemOpNode", Some("cuMemFree_v2"))
            );
        }
    });
}

#[test]
fn words_of_memory_of_the_graph_s_own() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(1, || {
        start();
        let (on, graph, outside) = (stream(1), graph(), graph());
        let mut wanted = CUDA_MEM_ALLOC_NODE_PARAMS::zeroed();
        wanted.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.poolProps.location = CUmemLocation::device(0);
        wanted.bytesize = 64;
        let mut allocated = ptr::null_mut();
        ok!(cuGraphAddMemAllocNode(&mut allocated, graph, ptr::null(), 0, &mut wanted));
        let memory = wanted.dptr;
        let (answer, written) = add(graph, &[allocated], &mut [set(memory, 1), wait(memory, 1)]);
        assert_eq!(answer, 0);
        let mut freed = ptr::null_mut();
        ok!(cuGraphAddMemFreeNode(&mut freed, graph, &written, 1, memory));
        assert_eq!(add(outside, &[], &mut [set(memory, 1)]).0, 0);
        let exec = instantiate(graph);
        for _ in 0..2 {
            ok!(cuGraphLaunch(exec, on));
            ok!(cuStreamSynchronize(on));
        }
        assert!(cuda_sim::report().findings.is_empty(), "{}", cuda_sim::report());
        // Outside of the graph it is not there.
        let late = instantiate(outside);
        ok!(cuGraphLaunch(late, on));
        ok!(cuStreamSynchronize(on));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::UseAfterFree), report.findings.len(), "{report}");
        assert!(!report.findings.is_empty());
    });
}
