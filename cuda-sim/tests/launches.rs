//! Kernels: what a launch gives their bodies, and what it refuses.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use cuda_sim::{Config, Feature, FindingKind, Scheduler, isolated, kernel, on_every_scheduler};
use cuda_sys::*;

const SAXPY: &str = "
    .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
    {
        .reg .pred %p<2>;
        .reg .f32 %f<5>;
        .reg .b32 %r<6>;
        .reg .b64 %rd<8>;
        ld.param.f32 %f1, [a];
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        ld.param.u32 %r1, [n];
        mov.u32 %r2, %ctaid.x;
        mov.u32 %r3, %ntid.x;
        mov.u32 %r4, %tid.x;
        mad.lo.u32 %r5, %r2, %r3, %r4;
        setp.ge.u32 %p1, %r5, %r1;
        @%p1 bra $done;
        cvta.to.global.u64 %rd3, %rd1;
        cvta.to.global.u64 %rd4, %rd2;
        mul.wide.u32 %rd5, %r5, 4;
        add.s64 %rd6, %rd3, %rd5;
        add.s64 %rd7, %rd4, %rd5;
        ld.global.f32 %f2, [%rd6];
        ld.global.f32 %f3, [%rd7];
        fma.rn.f32 %f4, %f1, %f2, %f3;
        st.global.f32 [%rd7], %f4;
    $done:
        ret;
    }
";

fn register_saxpy() {
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

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).filter_map(|c| c.first_chunk().map(|c| f32::from_ne_bytes(*c))).collect()
}

#[test]
fn saxpy_is_right_under_every_scheduler() {
    on_every_scheduler!(Config::new(), || {
        register_saxpy();
        start();
        let (module, mine) = (module(SAXPY), stream(1));
        let saxpy = function(module, c"saxpy");
        let count = 1000_u32;
        let (x, y) = (alloc(4000), alloc(4000));
        let ones: Vec<u8> = (0..1000_u16).flat_map(|n| f32::from(n).to_ne_bytes()).collect();
        write(x, &ones);
        write(y, &[0; 4000]);
        let mut factor = 1.5_f32;
        let parameters = [parameter(&factor), parameter(&x), parameter(&y), parameter(&count)];
        for _ in 0..3 {
            assert_eq!(launch(saxpy, [8, 128], mine, &parameters), 0);
        }
        // The parameters were taken.
        factor = 0.0;
        assert!(factor.abs() < 1.0);
        ok!(cuStreamSynchronize(mine));
        let sums = floats(&read(y, 4000));
        assert!((0..1000_u16).zip(&sums).all(|(n, sum)| *sum == 4.5 * f32::from(n)), "{sums:?}");
        ok!(cuModuleUnload(module));
        ok!(cuStreamDestroy_v2(mine));
        free(x);
        free(y);
        end();
    });
}

const SHAPES: &str = "
    .visible .entry none() { ret; }
    .visible .entry mixed(.param .u8 a, .param .align 8 .b8 b[24], .param .u16 c, .param .u64 d)
    {
        .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [d];
        cvta.to.global.u64 %rd2, %rd1;
        red.global.add.u32 [%rd2], 1;
        ret;
    }
    .visible .entry bounded() .maxntid 64 { ret; }
    .visible .entry exact() .reqntid 32, 2 { ret; }
    .visible .entry large()
    {
        .reg .b32 %r<2>;
        .shared .align 4 .b8 tile[40960];
        mov.u32 %r1, %tid.x;
        st.shared.u32 [tile], %r1;
        ret;
    }
";

/// Kernels that need a device of capability 9.0.
const CLUSTERED: &str = "
    .version 7.8
    .target sm_90
    .address_size 64
    .visible .entry clustered() .explicitcluster .reqnctapercluster 2 { ret; }
\0";

static SEEN: AtomicU32 = AtomicU32::new(0);

fn register_shapes() {
    for name in ["none", "bounded", "exact", "clustered", "large"] {
        kernel::register(name, |_| Ok(()));
    }
    kernel::register("mixed", |launch| {
        assert_eq!((launch.name(), launch.parameter_count()), ("mixed", 4));
        assert_eq!(launch.parameter::<u8>(0)?, 7);
        assert_eq!(launch.parameter::<[u8; 24]>(1)?, [9; 24]);
        assert_eq!(launch.parameter::<u16>(2)?, 0x1234);
        assert_eq!((launch.grid(), launch.block()), ([2, 3, 4], [5, 6, 7]));
        assert_eq!(launch.threads(), 24 * 210);
        assert_eq!(launch.dynamic_shared_bytes(), 11);
        assert!(launch.parameter::<u16>(0).is_err());
        assert!(launch.parameter::<u8>(4).is_err());
        let to = launch.pointer(3)?;
        let threads = u32::try_from(launch.threads()).unwrap_or(0);
        launch.atomic_add(to, 0, threads)?;
        SEEN.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
}

#[test]
fn parameters_come_by_pointers_or_in_a_buffer() {
    on_every_scheduler!(Config::new(), || {
        register_shapes();
        start();
        let module = module(SHAPES);
        let mixed = function(module, c"mixed");
        let memory = alloc(4);
        write(memory, &[0; 4]);
        let (a, b, c) = (7_u8, [9_u8; 24], 0x1234_u16);
        let mut pointers =
            [parameter(&a), parameter(&b), parameter(&c), parameter(&memory)].map(|p| p.cast_mut());
        let none = ptr::null_mut();
        let by = |pointers, extra| {
            code!(cuLaunchKernel(mixed, 2, 3, 4, 5, 6, 7, 11, LEGACY, pointers, extra))
        };
        assert_eq!(by(pointers.as_mut_ptr(), none), 0);
        let mut buffer = [0_u8; 48];
        buffer[0] = 7;
        buffer[8..32].fill(9);
        buffer[32..34].copy_from_slice(&c.to_ne_bytes());
        buffer[40..48].copy_from_slice(&memory.0.to_ne_bytes());
        let mut with = |mut size: usize| {
            let mut extra = [
                CU_LAUNCH_PARAM_BUFFER_POINTER,
                buffer.as_mut_ptr().cast(),
                CU_LAUNCH_PARAM_BUFFER_SIZE,
                ptr::from_mut(&mut size).cast::<c_void>(),
                CU_LAUNCH_PARAM_END,
            ];
            by(none, extra.as_mut_ptr())
        };
        assert_eq!([with(48), with(47), with(49), with(4096)], [0, 0, 701, 701]);
        let mut wrong = [ptr::without_provenance_mut(9), ptr::null_mut(), CU_LAUNCH_PARAM_END];
        let (mut empty, mut null) = ([CU_LAUNCH_PARAM_END], [ptr::null_mut(); 4]);
        assert_eq!(by(none, wrong.as_mut_ptr()), 1);
        assert_eq!(by(none, empty.as_mut_ptr()), 1);
        assert_eq!(by(pointers.as_mut_ptr(), empty.as_mut_ptr()), 1);
        assert_eq!(by(null.as_mut_ptr(), none), 1);
        assert_eq!(by(none, none), 1);
        ok!(cuCtxSynchronize());
        assert_eq!(read(memory, 4), (3 * 24 * 210_u32).to_ne_bytes());
        free(memory);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn the_limits_of_blocks_and_grids_are_kept() {
    isolated!(Config::new(), || {
        register_shapes();
        start();
        let module = module(SHAPES);
        let launch = |name, grid: [u32; 3], block: [u32; 3], shared| {
            let ([gx, gy, gz], [x, y, z], none) = (grid, block, ptr::null_mut());
            let f = function(module, name);
            code!(cuLaunchKernel(f, gx, gy, gz, x, y, z, shared, LEGACY, none, none))
        };
        let one = [1; 3];
        for (block, code) in [
            ([1024, 1, 1], 0),
            ([1025, 1, 1], 1),
            ([1, 1024, 1], 0),
            ([1, 1, 64], 0),
            ([1, 1, 65], 1),
            ([32, 33, 1], 1),
            ([0, 1, 1], 1),
            ([u32::MAX, u32::MAX, u32::MAX], 1),
        ] {
            assert_eq!(launch(c"none", one, block, 0), code, "{block:?}");
        }
        for (grid, code) in
            [([0x8000_0000, 1, 1], 1), ([1, 65536, 1], 1), ([1, 1, 65536], 1), ([1, 0, 1], 1)]
        {
            assert_eq!(launch(c"none", grid, one, 0), code, "{grid:?}");
        }
        assert_eq!(launch(c"bounded", one, [64, 1, 1], 0), 0);
        assert_eq!(launch(c"bounded", one, [65, 1, 1], 0), 1);
        assert_eq!(launch(c"exact", one, [32, 2, 1], 0), 0);
        assert_eq!(launch(c"exact", one, [64, 1, 1], 0), 1);
        // 48 KiB, unless the function asks for more.
        assert_eq!(launch(c"none", one, one, 49152), 0);
        assert_eq!(launch(c"none", one, one, 49153), 1);
        assert_eq!(launch(c"large", one, one, 8192), 0);
        assert_eq!(launch(c"large", one, one, 8193), 1);
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let none = function(module, c"none");
        assert_eq!(code!(cuFuncSetAttribute(none, attribute, 232_449)), 1);
        ok!(cuFuncSetAttribute(none, attribute, 232_448));
        assert_eq!(launch(c"none", one, one, 232_448), 0);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn registers_and_the_largest_grid_are_counted() {
    isolated!(Config::new()).unchecked().run(|| {
        kernel::register("greedy", |_| Ok(()));
        start();
        let greedy = function(module(".entry greedy() .maxnreg 255 { ret; }"), c"greedy");
        assert_eq!(launch(greedy, [1, 256], LEGACY, &[]), 0);
        assert_eq!(launch(greedy, [1, 512], LEGACY, &[]), 701);
        let (most, none) = (0x7fff_ffff, ptr::null_mut());
        ok!(cuLaunchKernel(greedy, most, 65535, 65535, 1, 1, 1, 0, LEGACY, none, none));
        assert!(cuda_sim::report().is_clean());
    });
}

#[test]
fn extended_launches_have_attributes() {
    isolated!(Config::new(), || {
        register_shapes();
        start();
        let module = module(SHAPES);
        let none = function(module, c"none");
        let launch = |f, grid, attributes: &mut [CUlaunchAttribute]| {
            let config = CUlaunchConfig {
                gridDimX: grid,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 32,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: LEGACY,
                attrs: attributes.as_mut_ptr(),
                numAttrs: u32::try_from(attributes.len()).unwrap_or(0),
            };
            code!(cuLaunchKernelEx(&config, f, ptr::null_mut(), ptr::null_mut()))
        };
        let with = |id, value| CUlaunchAttribute { id, pad: [0; 4], value };
        let cluster = |x| {
            let shape = CUlaunchAttributeValue_clusterDim { x, y: 1, z: 1 };
            let value = CUlaunchAttributeValue { clusterDim: shape };
            with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value)
        };
        assert_eq!(launch(none, 8, &mut []), 0);
        assert_eq!(launch(none, 8, &mut [cluster(8)]), 0);
        assert_eq!(launch(none, 16, &mut [cluster(16)]), 912);
        assert_eq!(launch(none, 7, &mut [cluster(2)]), 1);
        assert_eq!(launch(none, 7, &mut [cluster(0)]), 1);
        let portable = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        ok!(cuFuncSetAttribute(none, portable, 1));
        assert_eq!(launch(none, 16, &mut [cluster(16)]), 0);
        let mut second = ptr::null_mut();
        ok!(cuModuleLoadData(&mut second, CLUSTERED.as_ptr().cast()));
        let clustered = function(second, c"clustered");
        assert_eq!(launch(clustered, 3, &mut []), 1);
        assert_eq!(launch(clustered, 8, &mut [cluster(2)]), 0);
        assert_eq!(launch(clustered, 8, &mut [cluster(4)]), 1);
        let cooperative = CUlaunchAttributeValue { cooperative: 1 };
        let cooperative = with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative);
        assert_eq!(launch(none, 132 * 32, &mut [cooperative]), 0);
        assert_eq!(launch(none, 132 * 32 + 1, &mut [cooperative]), 720);
        ok!(cuModuleUnload(second));
        let event =
            with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, cluster(1).value);
        if !cuda_sim::is_on_device() {
            assert_eq!(launch(none, 1, &mut [event]), 801);
        }
        assert_eq!(launch(none, 1, &mut [with(CUlaunchAttributeID(999), event.value)]), 1);
        let mut no = [ptr::null_mut(); 1];
        let large = 132 * 32 + 1;
        let f = none;
        ok!(cuLaunchCooperativeKernel(f, 132, 1, 1, 32, 1, 1, 0, LEGACY, no.as_mut_ptr()));
        let code =
            code!(cuLaunchCooperativeKernel(f, large, 1, 1, 32, 1, 1, 0, LEGACY, no.as_mut_ptr()));
        assert_eq!(code, 720);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn a_device_may_lack_cooperative_launches() {
    isolated!(Config::new().without(Feature::CooperativeLaunch), || {
        register_shapes();
        start();
        let module = module(SHAPES);
        let (f, mut no) = (function(module, c"none"), [ptr::null_mut(); 1]);
        let no = no.as_mut_ptr();
        assert_eq!(code!(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, LEGACY, no)), 801);
        ok!(cuModuleUnload(module));
        end();
    });
}

#[test]
fn a_kernel_without_a_body_is_refused_and_named() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let module = module(".entry _Z3fooPi(.param .u64 p) { }");
        let (foo, zero) = (function(module, c"_Z3fooPi"), 0_u64);
        assert_eq!(launch(foo, [1, 1], LEGACY, &[parameter(&zero)]), 801);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::UnregisteredKernel), 1);
        assert!(report.to_string().contains("register(\"_Z3fooPi\""), "{report}");
        // A body may come later than the module.
        kernel::register("_Z3fooPi", |_| Ok(()));
        assert_eq!(launch(foo, [1, 1], LEGACY, &[parameter(&zero)]), 0);
    });
}

#[test]
fn a_function_is_launched_in_its_context_until_its_module_is_unloaded() {
    isolated!(Config::new()).unchecked().run(|| {
        register_shapes();
        start();
        let module = module(SHAPES);
        let none = function(module, c"none");
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        assert_eq!(launch(none, [1, 1], LEGACY, &[]), 400);
        ok!(cuCtxDestroy_v2(other));
        assert_eq!(launch(none, [1, 1], LEGACY, &[]), 0);
        ok!(cuModuleUnload(module));
        assert_eq!(launch(none, [1, 1], LEGACY, &[]), 400);
        assert_eq!(launch(ptr::null_mut(), [1, 1], LEGACY, &[]), 400);
        assert_eq!(launch(ptr::without_provenance_mut(0x1234), [1, 1], LEGACY, &[]), 400);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::WrongContext), 1, "{report}");
        assert!(report.to_string().contains("earlier: cuModuleLoadData"), "{report}");
        assert_eq!(report.count(FindingKind::StaleHandle), 1, "{report}");
        assert_eq!(report.findings.len(), 2, "{report}");
    });
}

static RUNS: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_full_queue_lets_its_oldest_launch_run() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        kernel::register("count", |_| {
            RUNS.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        start();
        let module = module(".entry count() { }");
        let (count, mine) = (function(module, c"count"), stream(1));
        for number in 0..1030_u32 {
            assert_eq!(launch(count, [1, 1], mine, &[]), 0);
            assert_eq!(RUNS.load(Ordering::SeqCst), (number + 1).saturating_sub(1021));
        }
        // Loading and unloading a module wait for all kernels.
        let second = self::module("");
        assert_eq!(RUNS.load(Ordering::SeqCst), 1030);
        assert_eq!(launch(count, [1, 1], mine, &[]), 0);
        ok!(cuModuleUnload(second));
        assert_eq!(RUNS.load(Ordering::SeqCst), 1031);
        ok!(cuStreamDestroy_v2(mine));
        ok!(cuModuleUnload(module));
        end();
        assert!(cuda_sim::finish().is_clean(), "{}", cuda_sim::finish());
    });
}
