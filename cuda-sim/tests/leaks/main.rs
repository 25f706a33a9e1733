//! What a program forgets is told with the call that made it, and nothing is told once it is given back.

#![expect(clippy::unwrap_used, reason = "what several tests use is a test too")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../descriptors/mod.rs"]
mod descriptors;
mod files;
#[path = "../mapped/mod.rs"]
mod mapped;
#[path = "../remote/mod.rs"]
mod remote;
#[path = "../stream_memory/mod.rs"]
mod stream_memory;

use std::ffi::{CString, c_void};
use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, role};
use cuda_sys::*;
use remote::{Remote, open, open_event};

/// Gives back what was made.
pub(crate) type GiveBack = Box<dyn FnOnce()>;

/// Returns the calls of the leaks, but for that of the primary context, which the test itself has.
pub(crate) fn leaks() -> Vec<&'static str> {
    let report = cuda_sim::finish();
    let (leaks, others): (Vec<_>, Vec<_>) =
        report.findings.iter().partition(|finding| finding.kind == FindingKind::Leak);
    assert!(others.is_empty(), "{report}");
    let calls = leaks.iter().map(|leak| leak.later.call);
    let mut calls: Vec<_> = calls.filter(|&call| call != "cuDevicePrimaryCtxRetain").collect();
    calls.sort_unstable();
    calls
}

/// Makes what has to be given back, looks for the leaks, gives it back, and looks once more.
pub(crate) fn check(expected: &[&str], make: fn() -> GiveBack) {
    match role().as_deref() {
        Some("remote") => return remote::serve(),
        Some(_) => return descriptors::serve(),
        None => {}
    }
    start();
    let give_back = make();
    assert_eq!(leaks(), expected);
    give_back();
    assert_eq!(leaks(), [""; 0]);
    end();
    let report = cuda_sim::finish();
    assert!(report.findings.is_empty(), "{report}");
}

/// Makes a test of each thing that can be forgotten: the calls whose leaks there must be, and what makes
/// it.
macro_rules! forgotten {
    ($($name:ident: $calls:expr, $make:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated!(Config::new()).unchecked().run(|| check(&$calls, $make));
        }
    )*};
}

pub(crate) use forgotten;

forgotten! {
    device_memory: ["cuMemAlloc_v2"], || {
        let memory = alloc(64);
        Box::new(move || free(memory))
    };
    rows: ["cuMemAllocPitch_v2"], || {
        let (mut memory, mut pitch) = (CUdeviceptr(0), 0);
        ok!(cuMemAllocPitch_v2(&mut memory, &mut pitch, 10, 10, 4));
        Box::new(move || free(memory))
    };
    pinned_memory: ["cuMemHostAlloc"], || {
        let page = pinned(64);
        Box::new(move || ok!(cuMemFreeHost(page.cast())))
    };
    registered_memory: ["cuMemHostRegister_v2"], || {
        let bytes = vec![0_u8; 4096].leak();
        let memory: *mut c_void = bytes.as_mut_ptr().cast();
        ok!(cuMemHostRegister_v2(memory, 4096, 0));
        Box::new(move || ok!(cuMemHostUnregister(memory)))
    };
    managed_memory: ["cuMemAllocManaged"], || {
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocManaged(&mut memory, 64, 1));
        Box::new(move || free(memory))
    };
    memory_of_a_stream: ["cuMemAllocAsync"], || {
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 64, LEGACY));
        Box::new(move || stream_memory::free_on(memory, LEGACY))
    };
    pools: ["cuMemPoolCreate"], || {
        let pool = stream_memory::create(0, 0);
        Box::new(move || ok!(cuMemPoolDestroy(pool)))
    };
    handles_of_physical_memory: ["cuMemCreate"], || {
        let handle = mapped::create(mapped::PAGE, 0);
        Box::new(move || ok!(cuMemRelease(handle)))
    };
    reserved_addresses: ["cuMemAddressReserve"], || {
        let base = mapped::reserve(mapped::PAGE);
        Box::new(move || ok!(cuMemAddressFree(base, mapped::PAGE)))
    };
    arrays: ["cuArray3DCreate_v2"], || {
        let mut array = ptr::null_mut();
        ok!(cuArray3DCreate_v2(&mut array, &shape()));
        Box::new(move || ok!(cuArrayDestroy(array)))
    };
    mipmapped_arrays: ["cuMipmappedArrayCreate"], || {
        let mut array = ptr::null_mut();
        ok!(cuMipmappedArrayCreate(&mut array, &shape(), 2));
        Box::new(move || ok!(cuMipmappedArrayDestroy(array)))
    };
    texture_objects: ["cuArray3DCreate_v2", "cuTexObjectCreate"], || {
        let (mut array, mut object) = (ptr::null_mut(), CUtexObject(0));
        ok!(cuArray3DCreate_v2(&mut array, &shape()));
        let mut resource = CUDA_RESOURCE_DESC::zeroed();
        resource.res.array.hArray = array;
        ok!(cuTexObjectCreate(&mut object, &resource, &CUDA_TEXTURE_DESC::zeroed(), ptr::null()));
        Box::new(move || {
            ok!(cuTexObjectDestroy(object));
            ok!(cuArrayDestroy(array));
        })
    };
    modules: ["cuModuleLoadData"], || {
        let module = module(".entry nothing() { }");
        Box::new(move || ok!(cuModuleUnload(module)))
    };
    libraries: ["cuLibraryLoadData"], || {
        let (mut library, no, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let text = CString::new(format!("{PTX}.entry nothing() {{ }}")).unwrap();
        let code = text.as_ptr().cast();
        let (options, values) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuLibraryLoadData(&mut library, code, no, options, 0, none, values, 0));
        Box::new(move || ok!(cuLibraryUnload(library)))
    };
    linkers: ["cuLinkCreate_v2"], || {
        let mut state = ptr::null_mut();
        ok!(cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut state));
        Box::new(move || ok!(cuLinkDestroy(state)))
    };
    streams: ["cuStreamCreate"], || {
        let stream = stream(1);
        Box::new(move || ok!(cuStreamDestroy_v2(stream)))
    };
    events: ["cuEventCreate"], || {
        let event = event();
        Box::new(move || ok!(cuEventDestroy_v2(event)))
    };
    contexts: ["cuCtxCreate_v2"], || {
        let mut context = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut context, 0, CUdevice(0)));
        ok!(cuCtxPopCurrent_v2(&mut context));
        Box::new(move || ok!(cuCtxDestroy_v2(context)))
    };
    graphs: ["cuGraphCreate"], || {
        let graph = graph();
        Box::new(move || ok!(cuGraphDestroy(graph)))
    };
    executable_graphs: ["cuGraphInstantiateWithFlags"], || {
        let (graph, mut exec) = (graph(), ptr::null_mut());
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(cuGraphDestroy(graph));
        Box::new(move || ok!(cuGraphExecDestroy(exec)))
    };
    user_objects: ["cuUserObjectCreate"], || {
        extern "system" fn nothing(_: *mut c_void) {}
        let mut object = ptr::null_mut();
        ok!(cuUserObjectCreate(&mut object, ptr::null_mut(), Some(nothing), 2, 1));
        ok!(cuUserObjectRelease(object, 1));
        Box::new(move || ok!(cuUserObjectRelease(object, 1)))
    };
    memory_of_another_process: ["cuIpcOpenMemHandle_v2"], || {
        let mut remote = Remote::start();
        let there = remote.alloc(64);
        let (answer, address) = open(remote.handle(there), 1);
        assert_eq!(answer, 0);
        Box::new(move || {
            ok!(cuIpcCloseMemHandle(CUdeviceptr(address)));
            assert_eq!(remote.code(&format!("free {there}")), 0);
            remote.end();
        })
    };
    events_of_another_process: ["cuIpcOpenEventHandle"], || {
        let mut remote = Remote::start();
        let (answer, event) = open_event(remote.record_behind_work(1));
        assert_eq!(answer, 0);
        Box::new(move || {
            ok!(cuEventDestroy_v2(event));
            remote.end();
        })
    };
}

#[test]
fn retains_of_a_primary_context_are_counted() {
    isolated!(Config::new()).unchecked().run(|| {
        let mut context = start();
        ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
        let text = cuda_sim::finish().to_string();
        assert!(text.contains("primary context of device 0, retained 2 times"), "{text}");
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
        end();
        assert!(cuda_sim::finish().findings.is_empty());
    });
}

fn graph() -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}

fn shape() -> CUDA_ARRAY3D_DESCRIPTOR {
    let mut shape = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    (shape.Width, shape.Height, shape.NumChannels) = (8, 8, 1);
    shape.Format = CUarray_format::CU_AD_FORMAT_FLOAT;
    shape
}
