//! Handles of what is gone: each use is refused, and told with the call that ended the object.

mod common;
mod mapped;
mod stream_memory;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated};
use cuda_sys::*;

/// Looks for the only finding: a stale handle, used and ended by these calls.
fn told(used_by: &str, ended_by: Option<&str>) {
    let report = cuda_sim::report();
    assert_eq!(report.findings.len(), 1, "{report}");
    let Some(found) = report.findings.first() else { return };
    assert_eq!(found.kind, FindingKind::StaleHandle, "{report}");
    assert_eq!(found.later.call, used_by, "{report}");
    assert_eq!(found.earlier.as_ref().map(|side| side.call), ended_by, "{report}");
}

/// Makes a test of each kind of handle: the calls that use it and ended it, and a program that does so.
macro_rules! stale {
    ($($name:ident: $used_by:literal, $ended_by:literal, $program:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated!(Config::new()).unchecked().run(|| {
                start();
                let program: fn() = $program;
                program();
                told($used_by, Some($ended_by));
            });
        }
    )*};
}

stale! {
    events: "cuEventQuery", "cuEventDestroy_v2", || {
        let event = event();
        ok!(cuEventDestroy_v2(event));
        assert_eq!(code!(cuEventQuery(event)), 400);
    };
    pools: "cuMemPoolTrimTo", "cuMemPoolDestroy", || {
        let pool = stream_memory::create(0, 0);
        ok!(cuMemPoolDestroy(pool));
        assert_eq!(code!(cuMemPoolTrimTo(pool, 0)), 1);
    };
    pools_with_memory: "cuMemPoolTrimTo", "cuMemPoolDestroy", || {
        let pool = stream_memory::create(0, 0);
        let memory = stream_memory::alloc_from(pool, 64, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        // It is the last of its pool, which ends behind it.
        stream_memory::free_on(memory, LEGACY);
        ok!(cuCtxSynchronize());
        assert_eq!(code!(cuMemPoolTrimTo(pool, 0)), 1);
    };
    pools_whose_memory_lives: "cuMemPoolTrimTo", "cuMemPoolDestroy", || {
        let pool = stream_memory::create(0, 0);
        let memory = stream_memory::alloc_from(pool, 64, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        assert_eq!(code!(cuMemPoolTrimTo(pool, 0)), 1);
        stream_memory::free_on(memory, LEGACY);
        ok!(cuCtxSynchronize());
    };
    physical_memory: "cuMemRelease", "cuMemRelease", || {
        let handle = mapped::create(mapped::PAGE, 0);
        ok!(cuMemRelease(handle));
        assert_eq!(code!(cuMemRelease(handle)), 1);
    };
    arrays: "cuArrayDestroy", "cuArrayDestroy", || {
        let (mut array, mut shape) = (ptr::null_mut(), CUDA_ARRAY3D_DESCRIPTOR::zeroed());
        (shape.Width, shape.NumChannels) = (8, 1);
        shape.Format = CUarray_format::CU_AD_FORMAT_FLOAT;
        ok!(cuArray3DCreate_v2(&mut array, &shape));
        ok!(cuArrayDestroy(array));
        assert_eq!(code!(cuArrayDestroy(array)), 400);
    };
    modules: "cuModuleUnload", "cuModuleUnload", || {
        let module = module(".entry nothing() { }");
        ok!(cuModuleUnload(module));
        assert_eq!(code!(cuModuleUnload(module)), 400);
    };
    functions: "cuFuncLoad", "cuModuleUnload", || {
        let module = module(".entry nothing() { }");
        let function = function(module, c"nothing");
        ok!(cuModuleUnload(module));
        assert_eq!(code!(cuFuncLoad(function)), 400);
    };
    graphs: "cuGraphDestroy", "cuGraphDestroy", || {
        let graph = graph();
        ok!(cuGraphDestroy(graph));
        assert_eq!(code!(cuGraphDestroy(graph)), 1);
    };
    nodes: "cuGraphDestroyNode", "cuGraphDestroy", || {
        let (graph, mut node) = (graph(), ptr::null_mut());
        ok!(cuGraphAddEmptyNode(&mut node, graph, ptr::null(), 0));
        ok!(cuGraphDestroy(graph));
        assert_eq!(code!(cuGraphDestroyNode(node)), 1);
    };
    executable_graphs: "cuGraphLaunch", "cuGraphExecDestroy", || {
        let (graph, mut exec) = (graph(), ptr::null_mut());
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(cuGraphExecDestroy(exec));
        assert_eq!(code!(cuGraphLaunch(exec, LEGACY)), 1);
        ok!(cuGraphDestroy(graph));
    };
    streams_of_a_context_that_was_destroyed: "cuStreamQuery", "cuCtxDestroy_v2", || {
        let mut context = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut context, 0, CUdevice(0)));
        let stream = stream(1);
        ok!(cuCtxDestroy_v2(context));
        assert_ne!(code!(cuStreamQuery(stream)), 0);
    };
}

#[test]
fn a_slot_that_is_used_again_tells_no_wrong_call() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let first = stream(1);
        ok!(cuStreamDestroy_v2(first));
        // In its place there is another, which is not told of.
        let second = stream(1);
        assert_eq!(code!(cuStreamQuery(first)), 400);
        told("cuStreamQuery", None);
        ok!(cuStreamQuery(second));
        ok!(cuStreamDestroy_v2(second));
    });
}

fn graph() -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}
