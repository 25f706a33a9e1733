//! Every row runs in a context that was just reset, as the page's program did.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicU8;

use cuda_sys::*;

use crate::common::*;
use crate::pointer_attributes::attribute;
use crate::recorder::Rows;
use crate::table;

/// Is what a context had before it was reset.
struct Old {
    context: CUcontext,
    memory: CUdeviceptr,
    page: *mut c_void,
    registered: *mut c_void,
    stream_ordered: CUdeviceptr,
    pool: CUmemoryPool,
    module: CUmodule,
    function: CUfunction,
}

/// Is what the old life registers, and what may be registered to the end of the process.
static REGISTERED: [AtomicU8; 8192] = [const { AtomicU8::new(1) }; 8192];

/// Is how far the process went on after the reset.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Reset,
    RetainedAgain,
    NewObjects,
}

const EMPTY: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n\0";

impl Old {
    /// Makes the objects, resets, and goes on to the phase; returns the new buffer if there is one.
    fn reset(phase: Phase) -> (Self, CUdeviceptr) {
        let context = start();
        let base = REGISTERED.as_ptr().cast_mut();
        let registered: *mut c_void = base.wrapping_add(base.align_offset(4096)).cast();
        let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuModuleLoadData(&mut module, EMPTY.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut function, module, c"empty".as_ptr()));
        let memory = alloc(1 << 20);
        let page: *mut c_void = pinned(4096).cast();
        ok!(cuMemHostRegister_v2(registered, 4096, 0));
        let (mut stream_ordered, mut pool) = (CUdeviceptr(0), ptr::null_mut());
        ok!(cuMemAllocAsync(&mut stream_ordered, 1 << 20, LEGACY));
        ok!(cuMemsetD8_v2(stream_ordered, 0xC4, 1 << 20));
        let mut properties = CUmemPoolProps::zeroed();
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = CUmemLocation::device(0);
        ok!(cuMemPoolCreate(&mut pool, &properties));
        ok!(cuCtxSynchronize());
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(0)));
        let mut new = CUdeviceptr(0);
        if phase != Phase::Reset {
            let mut again = ptr::null_mut();
            ok!(cuDevicePrimaryCtxRetain(&mut again, CUdevice(0)));
            assert_eq!(again, context);
        }
        if phase == Phase::NewObjects {
            new = alloc(1 << 20);
            ok!(cuMemsetD8_v2(new, 0xB2, 1 << 20));
            ok!(cuCtxSynchronize());
        }
        let old =
            Self { context, memory, page, registered, stream_ordered, pool, module, function };
        (old, new)
    }
}

/// Runs each row in a process of its own, since the one changes what the next one sees.
macro_rules! rows_after {
    ($($name:ident: $title:literal, $phase:ident, |$rows:ident, $old:ident, $new:ident| $body:block)*) => {$(
        #[test]
        fn $name() {
            table!($title, |$rows| {
                let ($old, $new) = Old::reset(Phase::$phase);
                let _ = $new;
                $body
            });
        }
    )*};
}

fn id(context: CUcontext) -> (u32, u64) {
    let mut id = 0;
    (code!(cuCtxGetId(context, &mut id)), id)
}

fn bytes() -> [u8; 16] {
    [0; 16]
}

fn launch(function: CUfunction) -> u32 {
    let none = ptr::null_mut();
    code!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, LEGACY, none, ptr::null_mut()))
}

/// Compares what the calls on memory of an old life answer.
fn memory_of(rows: &mut Rows, old: &Old, range: u32, handle: u32) {
    let (mut base, mut size) = (CUdeviceptr(0), 0);
    let answer = code!(cuMemGetAddressRange_v2(&mut base, &mut size, old.memory));
    rows.is("cuMemGetAddressRange", answer, range);
    let kind = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    rows.is("cuPointerGetAttribute", attribute(old.memory, kind).0, 1);
    let answer = code!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), old.memory));
    rows.is("cuIpcGetMemHandle", answer, handle);
}

rows_after! {
    contexts: "reset, not retained again: contexts", Reset, |rows, old, new| {
        let (mut state, mut active) = (0, 9);
        ok!(cuDevicePrimaryCtxGetState(CUdevice(0), &mut state, &mut active));
        rows.is("GetState active", active, 0);
        rows.is("cuCtxGetId(old)", id(old.context).0, 709);
        rows.is("cuCtxGetId(null)", id(ptr::null_mut()).0, 709);
        let (mut current, mut device, mut version) = (ptr::null_mut(), CUdevice(9), 0);
        ok!(cuCtxGetCurrent(&mut current));
        rows.is("cuCtxGetCurrent: the dead handle", current == old.context, true);
        rows.is("cuCtxSetCurrent(old)", code!(cuCtxSetCurrent(old.context)), 0);
        rows.is("cuCtxGetDevice", code!(cuCtxGetDevice(&mut device)), 0);
        rows.is("cuCtxGetApiVersion", code!(cuCtxGetApiVersion(old.context, &mut version)), 201);
        let (mut address, mut stream, mut event) = (CUdeviceptr(0), LEGACY, ptr::null_mut());
        rows.is("cuMemAlloc", code!(cuMemAlloc_v2(&mut address, 16)), 709);
        rows.is("cuStreamCreate", code!(cuStreamCreate(&mut stream, 1)), 709);
        rows.is("cuEventCreate", code!(cuEventCreate(&mut event, 2)), 709);
        rows.is("cuCtxSynchronize", code!(cuCtxSynchronize()), 709);
        let elsewhere = old.context.expose_provenance();
        let answers = std::thread::spawn(move || {
            let mut address = CUdeviceptr(0);
            let set = code!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(elsewhere)));
            (set, code!(cuMemAlloc_v2(&mut address, 16)))
        });
        rows.is("another thread: set current, allocate", answers.join().unwrap(), (0, 709));
        let releases = [(); 2].map(|()| code!(cuDevicePrimaryCtxRelease_v2(CUdevice(0))));
        rows.is("two releases", releases, [0, 201]);
    }
    memory: "reset, not retained again: memory", Reset, |rows, old, new| {
        rows.is("cuMemFree", code!(cuMemFree_v2(old.memory)), 709);
        let answer = code!(cuMemcpyDtoH_v2(bytes().as_mut_ptr().cast(), old.memory, 16));
        rows.is("cuMemcpyDtoH", answer, 709);
        let answer = code!(cuMemcpyHtoD_v2(old.memory, bytes().as_ptr().cast(), 16));
        rows.is("cuMemcpyHtoD", answer, 709);
        memory_of(rows, &old, 709, 709);
        rows.is("launch of an old function", launch(old.function), 709);
        rows.is("cuModuleUnload", code!(cuModuleUnload(old.module)), 400);
        rows.is("cuMemFreeHost", code!(cuMemFreeHost(old.page)), 709);
        rows.is("cuMemHostUnregister", code!(cuMemHostUnregister(old.registered)), 709);
    }
    pools: "reset, not retained again: pool memory", Reset, |rows, old, new| {
        let answer = code!(cuMemcpyDtoH_v2(bytes().as_mut_ptr().cast(), old.stream_ordered, 16));
        rows.is("copy of cuMemAllocAsync's", answer, 709);
        rows.is("its free", code!(cuMemFreeAsync(old.stream_ordered, LEGACY)), 709);
        let kind = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        rows.is("cuPointerGetAttribute", attribute(old.stream_ordered, kind).0, 0);
        let mut address = CUdeviceptr(0);
        let answer = code!(cuMemAllocFromPoolAsync(&mut address, 4096, old.pool, LEGACY));
        rows.is("allocation from a pool", answer, 709);
        rows.is("cuMemPoolDestroy", code!(cuMemPoolDestroy(old.pool)), 0);
    }
    retained_contexts: "retained again: contexts", RetainedAgain, |rows, old, new| {
        rows.is("cuCtxGetId(old)", id(old.context), (0, 2));
        let mut version = 0;
        rows.is("cuCtxGetApiVersion", code!(cuCtxGetApiVersion(old.context, &mut version)), 0);
        let mut address = CUdeviceptr(0);
        let answer = code!(cuMemAlloc_v2(&mut address, 1 << 20));
        rows.is("cuMemAlloc without cuCtxSetCurrent", answer, 0);
        let releases = [(); 3].map(|()| code!(cuDevicePrimaryCtxRelease_v2(CUdevice(0))));
        rows.is("three releases", releases, [0, 0, 201]);
    }
    retained_memory: "retained again: memory", RetainedAgain, |rows, old, new| {
        rows.is("cuMemFree", code!(cuMemFree_v2(old.memory)), 1);
        let answer = code!(cuMemcpyDtoH_v2(bytes().as_mut_ptr().cast(), old.memory, 16));
        rows.is("cuMemcpyDtoH", answer, 1);
        memory_of(rows, &old, 500, 1);
        rows.is("launch of an old function", launch(old.function), 400);
        rows.is("cuModuleUnload", code!(cuModuleUnload(old.module)), 400);
        rows.is("cuMemFreeHost", code!(cuMemFreeHost(old.page)), 1);
        rows.is("cuMemHostUnregister", code!(cuMemHostUnregister(old.registered)), 713);
        let mut host = bytes();
        let answer = code!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), old.stream_ordered, 16));
        rows.is("memory of cuMemAllocAsync: old bytes", (answer, host), (0, [0xC4; 16]));
        let frees = [(); 2].map(|()| code!(cuMemFreeAsync(old.stream_ordered, LEGACY)));
        rows.is("its free, twice", frees, [0, 1]);
        let mut address = CUdeviceptr(0);
        let answer = code!(cuMemAllocFromPoolAsync(&mut address, 4096, old.pool, LEGACY));
        rows.is("allocation from a pool", answer, 0);
        rows.is("and use", code!(cuMemsetD8Async(address, 1, 16, LEGACY)), 0);
        ok!(cuMemFreeAsync(address, LEGACY));
        rows.is("cuMemPoolDestroy", code!(cuMemPoolDestroy(old.pool)), 0);
    }
    new_objects: "retained again, new objects made", NewObjects, |rows, old, new| {
        // The page saw the old address in 16 of 18 processes.
        if new == old.memory {
            let answer = code!(cuMemcpyDtoH_v2(bytes().as_mut_ptr().cast(), old.memory, 16));
            rows.is("cuMemcpyDtoH", answer, 0);
            memory_of_new(rows, &old);
            rows.is("cuMemFree frees the new buffer", code!(cuMemFree_v2(old.memory)), 0);
            rows.is("whose own free then", code!(cuMemFree_v2(new)), 1);
        }
        rows.is("launch of an old function", launch(old.function), 400);
        rows.is("cuMemFreeHost", code!(cuMemFreeHost(old.page)), 1);
        rows.is("cuMemHostUnregister", code!(cuMemHostUnregister(old.registered)), 713);
    }
}

fn memory_of_new(rows: &mut Rows, old: &Old) {
    let (mut base, mut size) = (CUdeviceptr(0), 0);
    let answer = code!(cuMemGetAddressRange_v2(&mut base, &mut size, old.memory));
    rows.is("cuMemGetAddressRange", answer, 0);
    let kind = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    rows.is("cuPointerGetAttribute", attribute(old.memory, kind).0, 0);
    let answer = code!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), old.memory));
    rows.is_one_of("cuIpcGetMemHandle", answer, &[0, 1]);
}

#[test]
fn pinned_memory_is_unmapped() {
    table!("reset: pinned memory", |rows| {
        let (old, _) = Old::reset(Phase::Reset);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let page = old.page.addr();
        let is_readable = maps.lines().any(|line| {
            let (range, rest) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let hex = |text| usize::from_str_radix(text, 16).unwrap();
            (hex(start)..hex(end)).contains(&page) && rest.starts_with('r')
        });
        rows.is("is readable", is_readable, false);
    });
}

#[test]
fn released_to_zero() {
    table!("released to zero instead of reset", |rows| {
        let context = start();
        let memory = alloc(4096);
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
        rows.is("cuCtxGetId", id(context).0, 709);
        rows.is("cuMemFree", code!(cuMemFree_v2(memory)), 709);
        let mut again = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut again, CUdevice(0)));
        rows.is("the handle is the same", again == context, true);
        rows.is("the id is not", id(context), (0, 2));
        end();
    });
}
