//! Libraries, the linker, and how many blocks of a kernel run at once.

mod common;

use std::ffi::{CStr, CString};
use std::ptr;

use common::*;
use cuda_sim::{Config, Feature, isolated, kernel, on_every_scheduler};
use cuda_sys::*;

const TEXT: &str = "
    .global .align 4 .u32 counter = 7;
    .visible .entry first() { ret; }
    .visible .entry second() { red.global.add.u32 [counter], 1; ret; }
";

fn library(text: &str) -> CUlibrary {
    let text = CString::new(format!("{PTX}{text}")).unwrap_or_default();
    let mut library = ptr::null_mut();
    let none = ptr::null_mut();
    ok!(cuLibraryLoadData(
        &mut library,
        text.as_ptr().cast(),
        ptr::null_mut(),
        ptr::null_mut(),
        0,
        ptr::null_mut(),
        none,
        0
    ));
    library
}

#[test]
fn a_library_is_loaded_into_each_context() {
    on_every_scheduler!(Config::new(), || {
        kernel::register("second", |launch| {
            let counter = launch.variable("counter")?;
            launch.atomic_add(counter, 0, 1_u32).map(drop)
        });
        start();
        let library = library(TEXT);
        let mut kernel = ptr::null_mut();
        assert_eq!(code!(cuLibraryGetKernel(&mut kernel, library, c"none".as_ptr())), 500);
        ok!(cuLibraryGetKernel(&mut kernel, library, c"second".as_ptr()));
        let (mut count, mut name) = (0, ptr::null());
        ok!(cuLibraryGetKernelCount(&mut count, library));
        ok!(cuKernelGetName(&mut name, kernel));
        // SAFETY: the name is a text of the driver's.
        assert_eq!((count, unsafe { CStr::from_ptr(name) }), (2, c"second"));
        let mut of = ptr::null_mut();
        ok!(cuKernelGetLibrary(&mut of, kernel));
        assert_eq!(of, library);
        // A kernel is launched as a function is.
        assert_eq!(launch(kernel.cast(), [1, 1], LEGACY, &[]), 0);
        let counter = |library| {
            let (mut address, mut bytes) = (CUdeviceptr(0), 0);
            let name = c"counter".as_ptr();
            ok!(cuLibraryGetGlobal(&mut address, &mut bytes, library, name));
            read(address, 4)
        };
        let (mut first, mut second, mut module) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        ok!(cuKernelGetFunction(&mut first, kernel));
        assert_eq!(launch(first, [1, 1], LEGACY, &[]), 0);
        assert_eq!(counter(library), 9_u32.to_ne_bytes());
        ok!(cuLibraryGetModule(&mut module, library));
        assert_eq!(function(module, c"second"), first);
        assert_eq!(code!(cuModuleUnload(module)), 800);
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        ok!(cuKernelGetFunction(&mut second, kernel));
        assert_ne!(first, second);
        assert_eq!(counter(library), 7_u32.to_ne_bytes());
        ok!(cuCtxDestroy_v2(other));
        assert_eq!(counter(library), 9_u32.to_ne_bytes());
        ok!(cuLibraryUnload(library));
        end();
    });
}

#[test]
fn attributes_of_kernels_are_those_of_their_functions() {
    isolated!(Config::new().devices(2)).unchecked().run(|| {
        kernel::register("second", |_| Ok(()));
        start();
        let library = library(TEXT);
        let mut kernel = ptr::null_mut();
        ok!(cuLibraryGetKernel(&mut kernel, library, c"second".as_ptr()));
        let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        ok!(cuKernelSetAttribute(dynamic, 100_000, kernel, CUdevice(0)));
        let get = |device| {
            let mut value = 0;
            ok!(cuKernelGetAttribute(&mut value, dynamic, kernel, CUdevice(device)));
            value
        };
        assert_eq!([get(0), get(1)], [100_000, 49152]);
        let (none, f) = (ptr::null_mut(), kernel.cast());
        ok!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 99_000, LEGACY, none, none));
        let mut size = 0;
        assert_eq!(code!(cuKernelGetParamInfo(kernel, 0, &mut size, ptr::null_mut())), 1);
        ok!(cuLibraryUnload(library));
        assert_eq!(code!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, LEGACY, none, none)), 400);
        assert_eq!(code!(cuLibraryUnload(library)), 400);
    });
}

const MANAGED: &str = ".global .attribute(.managed) .align 4 .u32 both = 3;";

#[test]
fn managed_variables_are_the_hosts_too() {
    isolated!(Config::new(), || {
        start();
        let library = library(MANAGED);
        let (mut address, mut bytes) = (CUdeviceptr(0), 0);
        ok!(cuLibraryGetManaged(&mut address, &mut bytes, library, c"both".as_ptr()));
        assert_eq!(bytes, 4);
        let host: *const u32 = ptr::with_exposed_provenance(usize::try_from(address.0).unwrap());
        // SAFETY: managed memory is the host's too, and nothing is queued.
        assert_eq!(unsafe { host.read_volatile() }, 3);
        let mut flag = 0_u8;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED;
        ok!(cuPointerGetAttribute(ptr::from_mut(&mut flag).cast(), attribute, address));
        assert_eq!(flag, 1);
        ok!(cuLibraryUnload(library));
        end();
    });
}

#[test]
fn a_device_without_managed_memory_has_no_managed_variables() {
    isolated!(Config::new().without(Feature::ManagedMemory)).unchecked().run(|| {
        start();
        let text = CString::new(format!("{PTX}{MANAGED}")).unwrap();
        let mut module = ptr::null_mut();
        assert_eq!(code!(cuModuleLoadData(&mut module, text.as_ptr().cast())), 801);
    });
}

#[test]
fn the_linker_joins_images() {
    isolated!(Config::new(), || {
        start();
        let (ptx, none) = (CUjitInputType::CU_JIT_INPUT_PTX, ptr::null_mut());
        let link = |texts: &[&str]| {
            let mut state = ptr::null_mut();
            ok!(cuLinkCreate_v2(0, ptr::null_mut(), none, &mut state));
            for text in texts {
                let text = format!("{PTX}{text}\0");
                let (data, size) = (text.as_ptr().cast_mut().cast(), text.len());
                let code = code!(cuLinkAddData_v2(
                    state,
                    ptx,
                    data,
                    size,
                    c"x".as_ptr(),
                    0,
                    ptr::null_mut(),
                    none
                ));
                assert_eq!(code, 0);
            }
            let (mut image, mut size) = (ptr::null_mut(), 0);
            (code!(cuLinkComplete(state, &mut image, &mut size)), state, image)
        };
        let uses = ".extern .global .u32 x; .visible .entry f() { }";
        let has = ".visible .global .align 4 .u32 x = 5; .visible .entry g() { }";
        let (code, state, image) = link(&[uses, has]);
        assert_eq!(code, 0);
        let mut module = ptr::null_mut();
        ok!(cuModuleLoadData(&mut module, image));
        ok!(cuLinkDestroy(state));
        function(module, c"f");
        function(module, c"g");
        let (mut address, mut bytes) = (CUdeviceptr(0), 0);
        ok!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"x".as_ptr()));
        assert_eq!(read(address, bytes), 5_u32.to_ne_bytes());
        ok!(cuModuleUnload(module));
        for (texts, expected) in [(&[uses][..], 500), (&[has, has], 500), (&[], 0)] {
            let (code, state, _) = link(texts);
            assert_eq!(code, expected, "{texts:?}");
            ok!(cuLinkDestroy(state));
        }
        let mut state = ptr::null_mut();
        ok!(cuLinkCreate_v2(0, ptr::null_mut(), none, &mut state));
        let wrong = CString::new(format!("{PTX}nonsense")).unwrap();
        let (data, size) = (wrong.as_ptr().cast_mut().cast(), wrong.as_bytes().len());
        let add = |kind| {
            let name = c"x".as_ptr();
            code!(cuLinkAddData_v2(state, kind, data, size, name, 0, ptr::null_mut(), none))
        };
        assert_eq!(add(ptx), 218);
        assert_eq!(add(CUjitInputType::CU_JIT_INPUT_LIBRARY), 801);
        assert_eq!(add(CUjitInputType(99)), 1);
        ok!(cuLinkDestroy(state));
        end();
    });
}

extern "system" fn a_byte_a_thread(threads: i32) -> usize {
    usize::try_from(threads).unwrap_or(0)
}

#[test]
fn occupancy_follows_the_formula() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let module =
            module(".entry f() .maxnreg 40 { } .entry g() .maxntid 256 { .shared .b8 t[49152]; }");
        let (f, g) = (function(module, c"f"), function(module, c"g"));
        let active = |of, threads, shared| {
            let mut blocks = -1;
            ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, of, threads, shared));
            blocks
        };
        assert_eq!([active(f, 256, 0), active(f, 1024, 0), active(f, 32, 0)], [6, 1, 32]);
        assert_eq!([active(g, 256, 0), active(g, 257, 0), active(f, 32, 49153)], [4, 0, 0]);
        let (mut grid, mut block) = (0, 0);
        ok!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, f, None, 0, 0));
        // 48 warps of 40 registers fit: 768 threads twice, and no larger block as often.
        assert_eq!((grid, block), (264, 768));
        let shared: CUoccupancyB2DSize = Some(a_byte_a_thread);
        ok!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, g, shared, 0, 128));
        assert_eq!(block, 128);
        let mut bytes = 0;
        ok!(cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, f, 4, 256));
        assert_eq!(bytes, 49152);
        assert_eq!(code!(cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, f, 7, 256)), 1);
        assert_eq!(code!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut grid, f, 0, 0)), 1);
        ok!(cuModuleUnload(module));
        end();
    });
}
