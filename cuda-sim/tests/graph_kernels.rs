//! Graphs of kernels: what their nodes keep, refuse and tell, and what they do when launched.

mod common;

use std::ffi::c_void;
use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, kernel, on_every_scheduler};
use cuda_sys::*;

const SAXPY: &str = "
    .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) { ret; }
    .visible .entry none() { ret; }
";

const COUNT: u16 = 200;
const BYTES: usize = 4 * COUNT as usize;

fn register() {
    kernel::register("none", |_| Ok(()));
    kernel::register("saxpy", |launch| {
        let factor = launch.parameter::<f32>(0)?;
        let (x, y) = (launch.pointer(1)?, launch.pointer(2)?);
        let count = u64::from(launch.parameter::<u32>(3)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            if index < count {
                let sum = factor * launch.read::<f32>(x, index)? + launch.read::<f32>(y, index)?;
                launch.write(y, index, sum)?;
            }
            Ok(())
        })
    });
}

/// Is what a launch of the kernel is given; the parameters point into it.
struct Given {
    factor: f32,
    x: CUdeviceptr,
    y: CUdeviceptr,
    count: u32,
    pointers: [*mut c_void; 4],
}

impl Given {
    fn new(factor: f32, x: CUdeviceptr, y: CUdeviceptr) -> Box<Self> {
        let pointers = [ptr::null_mut(); 4];
        let mut given = Box::new(Self { factor, x, y, count: COUNT.into(), pointers });
        given.pointers = [
            (&raw mut given.factor).cast(),
            (&raw mut given.x).cast(),
            (&raw mut given.y).cast(),
            (&raw mut given.count).cast(),
        ];
        given
    }

    fn node(&mut self, func: CUfunction) -> CUDA_KERNEL_NODE_PARAMS {
        let mut node = CUDA_KERNEL_NODE_PARAMS::zeroed();
        node.func = func;
        (node.gridDimX, node.gridDimY, node.gridDimZ) = (2, 1, 1);
        (node.blockDimX, node.blockDimY, node.blockDimZ) = (128, 1, 1);
        node.kernelParams = self.pointers.as_mut_ptr();
        node
    }
}

fn add(graph: CUgraph, before: &[CUgraphNode], wanted: &CUDA_KERNEL_NODE_PARAMS) -> CUgraphNode {
    let mut node = ptr::null_mut();
    ok!(cuGraphAddKernelNode_v2(&mut node, graph, before.as_ptr(), before.len(), wanted));
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

fn floats(values: impl Fn(f32) -> f32) -> Vec<u8> {
    (0..COUNT).flat_map(|n| values(n.into()).to_ne_bytes()).collect()
}

/// Launches, and returns what is then in the memory.
fn run(exec: CUgraphExec, on: CUstream, memory: CUdeviceptr) -> Vec<u8> {
    ok!(cuGraphLaunch(exec, on));
    ok!(cuStreamSynchronize(on));
    read(memory, BYTES)
}

#[test]
fn nodes_keep_their_parameters_until_they_are_set() {
    on_every_scheduler!(Config::new(), || {
        register();
        start();
        let (module, on, graph) = (module(SAXPY), stream(1), graph());
        let saxpy = function(module, c"saxpy");
        let (x, y) = (alloc(BYTES), alloc(BYTES));
        write(x, &floats(|n| n));
        write(y, &floats(|_| 0.0));
        let mut given = Given::new(2.0, x, y);
        let first = add(graph, &[], &given.node(saxpy));
        let second = add(graph, &[first], &given.node(saxpy));
        // The node has the values of then.
        given.factor = 100.0;
        let exec = instantiate(graph);
        assert_eq!(run(exec, on, y), floats(|n| 4.0 * n));
        // In the executable graph alone.
        given.factor = 1.0;
        ok!(cuGraphExecKernelNodeSetParams_v2(exec, second, &given.node(saxpy)));
        assert_eq!(run(exec, on, y), floats(|n| 7.0 * n));
        // What a node tells can be given back, and lies where it did.
        let mut told = CUDA_KERNEL_NODE_PARAMS::zeroed();
        ok!(cuGraphKernelNodeGetParams_v2(second, &mut told));
        assert_eq!((told.func, told.gridDimX, told.blockDimX), (saxpy, 2, 128));
        told.gridDimX = 1;
        ok!(cuGraphKernelNodeSetParams_v2(second, &told));
        let mut result = CUgraphExecUpdateResultInfo::zeroed();
        ok!(cuGraphExecUpdate_v2(exec, graph, &mut result));
        let some = |n: f32| if n < 128.0 { 11.0 * n } else { 9.0 * n };
        assert_eq!(run(exec, on, y), floats(some));
        // A node that is left out.
        ok!(cuGraphNodeSetEnabled(exec, first, 0));
        let less = |n: f32| if n < 128.0 { 13.0 * n } else { 9.0 * n };
        assert_eq!(run(exec, on, y), floats(less));
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuModuleUnload(module));
        ok!(cuStreamDestroy_v2(on));
        free(x);
        free(y);
        end();
    });
}

#[test]
fn captured_launches_and_generic_nodes_run_too() {
    on_every_scheduler!(Config::new().version(Version::new(13, 2)), || {
        register();
        start();
        let (module, on) = (module(SAXPY), stream(1));
        let saxpy = function(module, c"saxpy");
        let (x, y) = (alloc(BYTES), alloc(BYTES));
        write(x, &floats(|n| n));
        let mut given = Given::new(3.0, x, y);
        ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(0)));
        ok!(cuMemsetD8Async(y, 0, BYTES, on));
        let parameters: Vec<_> =
            given.pointers.iter().map(|pointer| pointer.cast_const()).collect();
        assert_eq!(launch(saxpy, [2, 128], on, &parameters), 0);
        let mut graph = ptr::null_mut();
        ok!(cuStreamEndCapture(on, &mut graph));
        let (mut nodes, mut count) = ([ptr::null_mut(); 2], 2);
        ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
        let (mut kind, mut told) = (CUgraphNodeType(9), CUDA_KERNEL_NODE_PARAMS_v1::zeroed());
        ok!(cuGraphNodeGetType(nodes[1], &mut kind));
        ok!(cuGraphKernelNodeGetParams(nodes[1], &mut told));
        assert_eq!((kind.0, told.func, told.gridDimX), (0, saxpy, 2));
        // A node of any kind, with the same parameters, behind it.
        let mut any = CUgraphNodeParams::zeroed();
        ok!(cuGraphNodeGetParams(nodes[1], &mut any));
        let mut last = ptr::null_mut();
        ok!(cuGraphAddNode(&mut last, graph, &nodes[1], 1, &mut any));
        let exec = instantiate(graph);
        assert_eq!(run(exec, on, y), floats(|n| 6.0 * n));
        given.factor = 5.0;
        ok!(cuGraphKernelNodeSetParams_v2(last, &given.node(saxpy)));
        ok!(cuGraphNodeGetParams(last, &mut any));
        ok!(cuGraphExecNodeSetParams(exec, last, &mut any));
        assert_eq!(run(exec, on, y), floats(|n| 8.0 * n));
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuModuleUnload(module));
        ok!(cuStreamDestroy_v2(on));
        free(x);
        free(y);
        end();
    });
}

#[test]
fn what_launches_refuse_nodes_refuse() {
    isolated!(Config::new(), || {
        register();
        start();
        let (module, graph) = (module(SAXPY), graph());
        let none = function(module, c"none");
        let mut plain = CUDA_KERNEL_NODE_PARAMS_v1::zeroed();
        plain.func = none;
        (plain.gridDimX, plain.gridDimY, plain.gridDimZ) = (1, 1, 1);
        (plain.blockDimX, plain.blockDimY, plain.blockDimZ) = (1, 1, 1);
        let add = |wanted: &CUDA_KERNEL_NODE_PARAMS_v1| {
            let mut node = ptr::null_mut();
            let answer = code!(cuGraphAddKernelNode(&mut node, graph, ptr::null(), 0, wanted));
            (answer, node)
        };
        let (answer, node) = add(&plain);
        assert_eq!(answer, 0);
        let large = CUDA_KERNEL_NODE_PARAMS_v1 { blockDimX: 2000, ..plain };
        let nothing = CUDA_KERNEL_NODE_PARAMS_v1 { func: ptr::null_mut(), ..plain };
        let missing = CUDA_KERNEL_NODE_PARAMS_v1 { func: function(module, c"saxpy"), ..plain };
        for (wanted, code) in [(&large, 1), (&nothing, 400), (&missing, 1)] {
            assert_eq!(add(wanted).0, code);
            assert_eq!(code!(cuGraphKernelNodeSetParams(node, wanted)), code);
        }
        let mut count = 0;
        ok!(cuGraphGetNodes(graph, ptr::null_mut(), &mut count));
        assert_eq!(count, 1);
        let mut empty = ptr::null_mut();
        ok!(cuGraphAddEmptyNode(&mut empty, graph, ptr::null(), 0));
        assert_eq!(code!(cuGraphKernelNodeGetParams(empty, &mut plain)), 1);
        assert_eq!(code!(cuGraphKernelNodeSetParams(empty, &plain)), 1);
        ok!(cuGraphDestroy(graph));
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn attributes_stay_when_parameters_change() {
    isolated!(Config::new(), || {
        register();
        start();
        let (module, graph) = (module(SAXPY), graph());
        let none = function(module, c"none");
        let mut wanted = CUDA_KERNEL_NODE_PARAMS::zeroed();
        wanted.func = none;
        (wanted.gridDimX, wanted.gridDimY, wanted.gridDimZ) = (1, 1, 1);
        (wanted.blockDimX, wanted.blockDimY, wanted.blockDimZ) = (32, 1, 1);
        let (node, other) = (add(graph, &[], &wanted), add(graph, &[], &wanted));
        let cooperative = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        let get = |node| {
            let mut value = CUlaunchAttributeValue::zeroed();
            ok!(cuGraphKernelNodeGetAttribute(node, cooperative, &mut value));
            // SAFETY: the attribute is that member.
            unsafe { value.cooperative }
        };
        assert_eq!(get(node), 0);
        let on = CUlaunchAttributeValue { cooperative: 1 };
        ok!(cuGraphKernelNodeSetAttribute(node, cooperative, &on));
        ok!(cuGraphKernelNodeSetParams_v2(node, &wanted));
        assert_eq!((get(node), get(other)), (1, 0));
        // More blocks than run at the same time; without the attribute they may be.
        wanted.gridDimX = 1 << 20;
        assert_eq!(code!(cuGraphKernelNodeSetParams_v2(node, &wanted)), 720);
        ok!(cuGraphKernelNodeSetParams_v2(other, &wanted));
        assert_eq!(code!(cuGraphKernelNodeCopyAttributes(other, node)), 720);
        wanted.gridDimX = 1;
        ok!(cuGraphKernelNodeSetParams_v2(other, &wanted));
        let exec = instantiate(graph);
        ok!(cuGraphKernelNodeCopyAttributes(other, node));
        assert_eq!(get(other), 1);
        // What runs all blocks at the same time in an executable graph goes on so.
        let mut result = CUgraphExecUpdateResultInfo::zeroed();
        assert_eq!(code!(cuGraphExecUpdate_v2(exec, graph, &mut result)), 910);
        assert_eq!((result.result.0, result.errorNode), (8, other));
        // Launches have attributes that nodes don't.
        let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        assert_eq!(code!(cuGraphKernelNodeSetAttribute(node, id, &on)), 1);
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn a_kernel_whose_module_is_gone_is_refused_and_named() {
    isolated!(Config::new()).unchecked().run(|| {
        register();
        start();
        let (module, graph, on) = (module(SAXPY), graph(), stream(1));
        let mut wanted = Given::new(1.0, CUdeviceptr(0), CUdeviceptr(0)).node(ptr::null_mut());
        wanted.func = function(module, c"none");
        wanted.kernelParams = ptr::null_mut();
        add(graph, &[], &wanted);
        let exec = instantiate(graph);
        ok!(cuGraphLaunch(exec, on));
        ok!(cuModuleUnload(module));
        assert_eq!(code!(cuGraphLaunch(exec, on)), 400);
        let report = cuda_sim::report();
        assert_eq!(report.findings.len(), 1, "{report}");
        assert!(report.to_string().contains("the function's module was unloaded"), "{report}");
        assert_eq!(report.count(FindingKind::Race), 0, "{report}");
    });
}
