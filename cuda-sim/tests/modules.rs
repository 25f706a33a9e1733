//! Modules: what is loaded, found, refused, and left behind.

mod common;

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, kernel, on_every_scheduler};
use cuda_sys::*;

const TEXT: &str = "
    .const .align 4 .f32 table[4] = {1.0, 2.0, 3.0, 4.0};
    .global .align 4 .u32 counter = 7;
    .global .align 8 .u64 pointer = generic(counter)+4;
    .global .align 1 .b8 buffer[100];
    .visible .entry first(.param .u64 p, .param .align 8 .b8 s[24], .param .u8 c) { ret; }
    .visible .entry second() { red.global.add.u32 [counter], 1; ret; }
";

fn load(bytes: &[u8]) -> (u32, CUmodule) {
    let mut module = ptr::null_mut();
    (code!(cuModuleLoadData(&mut module, bytes.as_ptr().cast())), module)
}

fn global(module: CUmodule, name: &CStr) -> (CUdeviceptr, usize) {
    let (mut address, mut bytes) = (CUdeviceptr(0), 0);
    ok!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()));
    (address, bytes)
}

#[test]
fn a_module_has_its_functions() {
    on_every_scheduler!(Config::new(), || {
        start();
        let module = module(TEXT);
        let mut found = ptr::null_mut();
        assert_eq!(code!(cuModuleGetFunction(&mut found, module, c"third".as_ptr())), 500);
        assert_eq!(code!(cuModuleGetFunction(&mut found, module, ptr::null())), 1);
        assert!(found.is_null());
        let first = function(module, c"first");
        assert_eq!(first, function(module, c"first"));
        let mut count = 0;
        ok!(cuModuleGetFunctionCount(&mut count, module));
        assert_eq!(count, 2);
        let mut all = [ptr::null_mut(); 3];
        ok!(cuModuleEnumerateFunctions(all.as_mut_ptr(), 3, module));
        assert!(all[..2].contains(&first) && all[2].is_null());
        let mut name = ptr::null();
        ok!(cuFuncGetName(&mut name, first));
        // SAFETY: the name is a text of the driver's.
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"first");
        let mut of = ptr::null_mut();
        ok!(cuFuncGetModule(&mut of, first));
        assert_eq!(of, module);
        for (index, place) in [(0, (0, 8)), (1, (8, 24)), (2, (32, 1))] {
            let (mut offset, mut size) = (9, 9);
            ok!(cuFuncGetParamInfo(first, index, &mut offset, &mut size));
            assert_eq!((offset, size), place);
        }
        let mut offset = 0;
        assert_eq!(code!(cuFuncGetParamInfo(first, 3, &mut offset, ptr::null_mut())), 1);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn variables_hold_what_the_image_says() {
    on_every_scheduler!(Config::new(), || {
        start();
        let module = module(TEXT);
        let (table, bytes) = global(module, c"table");
        assert_eq!(bytes, 16);
        let values = [1_f32, 2.0, 3.0, 4.0].map(f32::to_ne_bytes).concat();
        assert_eq!(read(table, 16), values);
        let (counter, bytes) = global(module, c"counter");
        assert_eq!((read(counter, 4), bytes), (7_u32.to_ne_bytes().to_vec(), 4));
        let (pointer, _) = global(module, c"pointer");
        assert_eq!(read(pointer, 8), (counter.0 + 4).to_ne_bytes());
        let (buffer, bytes) = global(module, c"buffer");
        assert_eq!((bytes, read(buffer, 100)), (100, vec![0; 100]));
        write(buffer, &[5; 100]);
        assert_eq!(read(buffer, 100), [5; 100]);
        // A second load has variables of its own.
        let again = self::module(TEXT);
        assert_ne!(global(again, c"buffer").0, buffer);
        let mut address = CUdeviceptr(0);
        let name = c"none".as_ptr();
        assert_eq!(code!(cuModuleGetGlobal_v2(&mut address, ptr::null_mut(), module, name)), 500);
        assert_eq!(code!(cuMemFree_v2(buffer)), 1);
        ok!(cuModuleUnload(again));
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn kernels_read_constants_and_must_not_write_them() {
    isolated!(Config::new()).unchecked().run(|| {
        kernel::register("second", |launch| {
            let (table, counter) = (launch.variable("table")?, launch.variable("counter")?);
            assert!((launch.read::<f32>(table, 2)? - 3.0).abs() < 0.1);
            launch.atomic_add(counter, 0, 1_u32)?;
            assert!(launch.variable("none").is_err());
            launch.write(table, 0, 1_f32)
        });
        start();
        let module = module(TEXT);
        assert_eq!(launch(function(module, c"second"), [1, 1], LEGACY, &[]), 0);
        assert_eq!(code!(cuCtxSynchronize()), 700);
        let text = cuda_sim::report().to_string();
        assert!(text.contains("which is constant memory"), "{text}");
    });
}

#[test]
fn what_is_no_image_is_refused() {
    isolated!(Config::new(), || {
        start();
        for (bytes, code) in [
            (&b"\0"[..], 200),
            (b"not an image\0", 200),
            (b".version 7.8\n.target sm_70\n.entry f( {\0", 218),
            (b".version 9.9\n.target sm_70\n\0", 222),
            (b".version 8.0\n.target sm_100\n\0", 218),
            (b".version 7.8\n.target sm_70\n.extern .global .u32 x;\0", 218),
        ] {
            let (answer, module) = load(bytes);
            assert_eq!(answer, code, "{}", String::from_utf8_lossy(bytes));
            assert!(module.is_null());
        }
        let mut module = ptr::null_mut();
        assert_eq!(code!(cuModuleLoadData(&mut module, ptr::null())), 1);
        assert_eq!(code!(cuModuleLoad(&mut module, c"/nowhere/kernel.cubin".as_ptr())), 301);
        assert_eq!(code!(cuModuleUnload(ptr::null_mut())), 400);
        end();
    });
}

#[test]
fn images_that_lie_about_their_length_are_refused() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let elf = [&b"\x7fELF\x02\x01\x01\x33\x07"[..], &[0; 100]].concat();
        let fatbin = b"\x50\xed\x55\xba\x01\0\x10\0\xff\xff\xff\xff\xff\xff\xff\x0f";
        assert_eq!((load(&elf).0, load(fatbin).0), (200, 200));
        let mut module = ptr::null_mut();
        assert_eq!(code!(cuModuleLoadData(&mut module, ptr::without_provenance(64))), 200);
    });
}

#[test]
fn an_image_is_loaded_from_a_file() {
    isolated!(Config::new(), || {
        start();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{PTX}{TEXT}")).unwrap();
        let path = CString::new(file.path().to_str().unwrap()).unwrap();
        let mut module = ptr::null_mut();
        ok!(cuModuleLoad(&mut module, path.as_ptr()));
        function(module, c"second");
        ok!(cuModuleUnload(module));
        end();
    });
}

/// Loads PTX with logs; returns the code, both logs with the sizes that were written, and the time.
fn with_logs(text: &str, room: usize) -> (u32, [(String, usize); 2], f32) {
    use CUjit_option as O;
    let text = CString::new(text).unwrap_or_default();
    let (mut info, mut error) = ([b'?'; 200], [b'?'; 200]);
    let mut options = [
        O::CU_JIT_INFO_LOG_BUFFER,
        O::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        O::CU_JIT_ERROR_LOG_BUFFER,
        O::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        O::CU_JIT_WALL_TIME,
        O::CU_JIT_OPTIMIZATION_LEVEL,
    ];
    let room: *mut c_void = ptr::without_provenance_mut(room);
    let none = ptr::null_mut();
    let mut values = [
        info.as_mut_ptr().cast(),
        room,
        error.as_mut_ptr().cast(),
        room,
        none,
        ptr::without_provenance_mut(4),
    ];
    let mut module = none.cast();
    let code = code!(cuModuleLoadDataEx(
        &mut module,
        text.as_ptr().cast(),
        6,
        options.as_mut_ptr(),
        values.as_mut_ptr()
    ));
    if code == 0 {
        ok!(cuModuleUnload(module));
    }
    let text = |log: &[u8], size: *mut c_void| {
        let text: Vec<_> = log.iter().copied().take_while(|&byte| byte != 0).collect();
        (String::from_utf8_lossy(&text).into_owned(), size.addr())
    };
    let time = f32::from_bits(u32::try_from(values[4].addr()).unwrap_or(0));
    (code, [text(&info, values[1]), text(&error, values[3])], time)
}

#[test]
fn logs_say_what_became_of_the_ptx() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (code, [info, error], time) = with_logs(&format!("{PTX}{TEXT}"), 200);
        assert_eq!((code, error), (0, (String::new(), 0)));
        assert_eq!(info.0, "info: 2 kernels and 4 variables");
        assert_eq!(info.1, info.0.len());
        assert!(time > 0.0);
        let (code, [info, error], _) = with_logs(&format!("{PTX}\n.entry f( {{"), 200);
        assert_eq!((code, info.0), (218, String::new()));
        assert_eq!(error.0, "error: line 5 of the PTX: `{` where `.param` is due");
        let (code, [_, error], _) = with_logs(&format!("{PTX}\n.entry f( {{"), 10);
        assert_eq!((code, error), (218, ("error: li".to_owned(), 9)));
        let mut module = ptr::null_mut();
        let (mut option, mut value) = (CUjit_option(4711), ptr::null_mut());
        let text = CString::new(PTX).unwrap();
        let text = text.as_ptr().cast();
        assert_eq!(code!(cuModuleLoadDataEx(&mut module, text, 1, &mut option, &mut value)), 1);
        end();
    });
}

#[test]
fn a_module_that_is_left_is_a_leak_and_a_reset_takes_it() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let module = module(TEXT);
        let first = function(module, c"first");
        let leaks = cuda_sim::finish();
        assert_eq!(leaks.count(FindingKind::Leak), 2, "{leaks}");
        let text = leaks.to_string();
        assert!(text.contains("a module of kernel first and 1 more: cuModuleLoadData"), "{text}");
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(0)));
        // Measured.
        let zero = [0_u8; 24];
        let parameters = [parameter(&zero), parameter(&zero), parameter(&zero)];
        assert_eq!(launch(first, [1, 1], LEGACY, &parameters), 709);
        assert_eq!(code!(cuModuleUnload(module)), 400);
        let mut found = ptr::null_mut();
        assert_eq!(code!(cuModuleGetFunction(&mut found, module, c"first".as_ptr())), 400);
        let mut context = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
        assert_eq!(launch(first, [1, 1], LEGACY, &parameters), 400);
        assert_eq!(code!(cuModuleUnload(module)), 400);
    });
}

#[test]
fn a_function_has_attributes() {
    isolated!(Config::new()).unchecked().run(|| {
        use CUfunction_attribute as A;
        start();
        let module = module(
            ".entry f() .maxntid 96 { .shared .b8 tile[1000]; ret; } .entry g() .reqnctapercluster 2, 2 { ret; }",
        );
        let (f, g) = (function(module, c"f"), function(module, c"g"));
        let get = |of, attribute| {
            let mut value = 0;
            ok!(cuFuncGetAttribute(&mut value, attribute, of));
            value
        };
        assert_eq!(get(f, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 96);
        assert_eq!(get(f, A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1000);
        assert_eq!(get(f, A::CU_FUNC_ATTRIBUTE_PTX_VERSION), 78);
        assert_eq!(get(f, A::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
        let dynamic = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        assert_eq!(get(f, dynamic), 49152 - 1000);
        ok!(cuFuncSetAttribute(f, dynamic, 100_000));
        assert_eq!(get(f, dynamic), 100_000);
        assert_eq!(code!(cuFuncSetAttribute(f, dynamic, 232_448)), 1);
        let width = A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
        assert_eq!((get(f, width), get(g, width)), (0, 2));
        assert_eq!(code!(cuFuncSetAttribute(g, width, 4)), 800);
        ok!(cuFuncSetAttribute(f, width, 4));
        assert_eq!(get(f, width), 4);
        assert_eq!(code!(cuFuncSetAttribute(f, A::CU_FUNC_ATTRIBUTE_NUM_REGS, 4)), 1);
        let mut value = 0;
        assert_eq!(code!(cuFuncGetAttribute(&mut value, A(99), f)), 1);
        ok!(cuFuncSetCacheConfig(f, CUfunc_cache::CU_FUNC_CACHE_PREFER_L1));
        assert_eq!(code!(cuFuncSetCacheConfig(f, CUfunc_cache(9))), 1);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn a_function_is_loaded_by_its_first_launch() {
    isolated!(Config::new(), || {
        kernel::register("second", |_| Ok(()));
        start();
        let module = module(TEXT);
        let (first, second) = (function(module, c"first"), function(module, c"second"));
        let is_loaded = |of| {
            let mut state = CUfunctionLoadingState(9);
            ok!(cuFuncIsLoaded(&mut state, of));
            state.0
        };
        assert_eq!([is_loaded(first), is_loaded(second)], [0, 0]);
        assert_eq!(launch(second, [1, 1], LEGACY, &[]), 0);
        ok!(cuFuncLoad(first));
        assert_eq!([is_loaded(first), is_loaded(second)], [1, 1]);
        let mut mode = CUmoduleLoadingMode(0);
        ok!(cuModuleGetLoadingMode(&mut mode));
        assert_eq!(mode, CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING);
        ok!(cuModuleUnload(module));
        end();
    });
}
