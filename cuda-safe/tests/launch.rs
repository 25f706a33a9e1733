//! Kernels: modules, the checks of a launch, and the order of what kernels use.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::ffi::CStr;

use cuda_safe::shim::Arguments;
use cuda_safe::sys::Version;
use cuda_safe::{
    Context, Device, DeviceBuffer, Error, Function, LaunchShape, Module, PerThreadStream,
    PinnedBuffer, Rule, Stream, call, inout, input, output,
};
use cuda_sim::kernel::Body;
use cuda_sim::{Config, Scheduler, for_each_failure, is_on_device, isolated, on_every_scheduler};
use cuda_sys::CUresult;

/// Adds `factor` times `x` to `y`; and writes twice `x` to `y`.
const PTX: &CStr = cr"
    .version 7.0
    .target sm_70
    .address_size 64

    .visible .entry saxpy(.param .f32 factor, .param .u64 x, .param .u64 y, .param .u32 n)
    {
        .reg .pred %past;
        .reg .b32 %index, %block, %size, %thread, %n;
        .reg .b64 %x, %y, %offset;
        .reg .f32 %factor, %left, %right;
        mov.u32 %block, %ctaid.x;
        mov.u32 %size, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.u32 %index, %block, %size, %thread;
        ld.param.u32 %n, [n];
        setp.ge.u32 %past, %index, %n;
        @%past ret;
        ld.param.f32 %factor, [factor];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mul.wide.u32 %offset, %index, 4;
        add.u64 %x, %x, %offset;
        add.u64 %y, %y, %offset;
        ld.f32 %left, [%x];
        ld.f32 %right, [%y];
        fma.rn.f32 %right, %factor, %left, %right;
        st.f32 [%y], %right;
        ret;
    }

    .visible .entry twice(.param .u64 x, .param .u64 y)
    {
        .reg .b32 %index;
        .reg .b64 %x, %y, %offset;
        .reg .f32 %value;
        mov.u32 %index, %tid.x;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mul.wide.u32 %offset, %index, 4;
        add.u64 %x, %x, %offset;
        add.u64 %y, %y, %offset;
        ld.f32 %value, [%x];
        add.f32 %value, %value, %value;
        st.f32 [%y], %value;
        ret;
    }
";

/// Says what the kernels do where no device runs them.
fn register() {
    let saxpy = Body::new(|launch| {
        let (factor, n) = (launch.parameter::<f32>(0)?, launch.parameter::<u32>(3)?);
        let (x, y) = (launch.pointer(1)?, launch.pointer(2)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            if index < n.into() {
                let (left, right) = (launch.read::<f32>(x, index)?, launch.read::<f32>(y, index)?);
                launch.write(y, index, factor.mul_add(left, right))?;
            }
            Ok(())
        })
    });
    saxpy
        .accesses(|arguments| {
            let bytes = 4 * u64::from(arguments.parameter::<u32>(3)?);
            Ok(vec![arguments.reads(1, bytes)?, arguments.writes(2, bytes)?])
        })
        .register("saxpy");
    let twice = Body::new(|launch| {
        let (x, y) = (launch.pointer(0)?, launch.pointer(1)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            let value = launch.read::<f32>(x, index)?;
            launch.write(y, index, 2.0 * value)
        })
    });
    twice
        .accesses(|arguments| {
            let bytes = 4 * arguments.threads();
            Ok(vec![arguments.reads(0, bytes)?, arguments.writes(1, bytes)?])
        })
        .register("twice");
}

fn lazy() -> Config {
    let config = Config::new().scheduler(Scheduler::Lazy);
    // Only the simulator keeps a log, and asking for one keeps a test off a device.
    if is_on_device() { config } else { config.log(true) }
}

/// Makes a context, and finds a kernel in it.
fn kernel(name: &CStr) -> (Context, Function) {
    register();
    let context = Device::get(0).unwrap().context().unwrap();
    let function = Module::from_ptx(&context, PTX).unwrap().function(name).unwrap();
    (context, function)
}

/// Fails unless a function was called so often, as far as the log tells.
fn expect_calls(function: &str, expected: usize) {
    if !is_on_device() {
        let calls = cuda_sim::calls();
        let calls = calls.iter().filter(|call| call.function == function);
        assert_eq!(calls.count(), expected, "{function}");
    }
}

fn row(threads: u32) -> LaunchShape {
    LaunchShape::new([1, 1, 1], [threads, 1, 1])
}

/// Launches a kernel over eight threads, which must be refused.
fn refused(function: &Function, stream: &Stream, arguments: impl Arguments) -> Error {
    // SAFETY: nothing is launched, or the test fails.
    unsafe { function.launch(row(8), stream, arguments) }.unwrap_err()
}

#[test]
fn copies_and_kernels_on_three_streams_need_no_waits_of_the_callers() {
    on_every_scheduler!(Config::new(), || {
        let (context, saxpy) = kernel(c"saxpy");
        let [first, second, third] = [(); 3].map(|()| Stream::new(&context).unwrap());
        let values: Vec<f32> = (0..1000_u16).map(f32::from).collect();
        let ones = PinnedBuffer::from_slice(&context, &[1.0_f32; 1000]).unwrap();
        let source = PinnedBuffer::from_slice(&context, &values).unwrap();
        let mut answer = PinnedBuffer::<f32>::zeroed(&context, 1000).unwrap();
        let mut x = DeviceBuffer::<f32>::allocate(&context, 1000).unwrap();
        let mut y = DeviceBuffer::<f32>::allocate(&context, 1000).unwrap();
        call::memcpy_htod_async(&mut x, &source, &first).unwrap();
        call::memcpy_htod_async(&mut y, &ones, &second).unwrap();
        let arguments = (3.0_f32, input(&x), inout(&mut y), 1000_u32);
        // SAFETY: the kernel touches the first 1000 elements of both buffers.
        unsafe { saxpy.launch(LaunchShape::covering(1000, 128), &third, arguments) }.unwrap();
        call::memcpy_dtoh_async(&mut answer, &y, &first).unwrap();
        // The kernel read it: the next write waits.
        call::memset_d8_async(&mut x, 0, &second).unwrap();
        let expected: Vec<f32> = values.iter().map(|value| 3.0_f32.mul_add(*value, 1.0)).collect();
        assert_eq!(answer.as_slice().unwrap(), expected);
    });
}

#[test]
fn kernels_that_only_read_do_not_wait_for_each_other() {
    isolated!(lazy(), || {
        let (context, twice) = kernel(c"twice");
        let [first, second] = [(); 2].map(|()| Stream::new(&context).unwrap());
        let mut x = DeviceBuffer::<f32>::allocate(&context, 64).unwrap();
        call::memset_d32(&mut x, 1.5_f32.to_bits()).unwrap();
        context.synchronize().unwrap();
        let mut results = [(); 2].map(|()| DeviceBuffer::<f32>::allocate(&context, 64).unwrap());
        for (result, stream) in results.iter_mut().zip([&first, &second]) {
            // SAFETY: 64 threads touch as many elements of both buffers.
            unsafe { twice.launch(row(64), stream, (input(&x), output(result))) }.unwrap();
        }
        expect_calls("cuStreamWaitEvent", 0);
        for result in &results {
            let mut bytes = [0_u8; 256];
            call::memcpy_dtoh(&mut bytes, result).unwrap();
            assert_eq!(bytes[..4], 3.0_f32.to_ne_bytes());
        }
    });
}

#[test]
fn wrong_arguments_never_reach_the_driver() {
    isolated!(lazy().devices(2), || {
        let (context, twice) = kernel(c"twice");
        let stream = Stream::new(&context).unwrap();
        let x = DeviceBuffer::<f32>::allocate(&context, 64).unwrap();
        let mut y = DeviceBuffer::<f32>::allocate(&context, 64).unwrap();
        let there = Device::get(1).unwrap().context().unwrap();
        let mut far = DeviceBuffer::<f32>::allocate(&there, 64).unwrap();
        assert_eq!(twice.parameters(), Some([8, 8].as_slice()));
        let elsewhere = Stream::new(&there).unwrap();
        let errors = [
            refused(&twice, &stream, (input(&x),)),
            refused(&twice, &stream, (input(&x), output(&mut y), 1_u32)),
            refused(&twice, &stream, (input(&x), 1_u32)),
            refused(&twice, &stream, (input(&x), output(&mut far))),
            refused(&twice, &elsewhere, (input(&x), output(&mut y))),
        ];
        let rules = errors.each_ref().map(|error| error.rule().unwrap());
        assert_eq!(rules[..3], [Rule::Arguments; 3]);
        assert_eq!(rules[3..], [Rule::Home; 2]);
        let text = "cuLaunchKernel: `arguments` breaks Arguments: needs 8, has 4";
        assert_eq!(errors[2].to_string(), text);
        expect_calls("cuLaunchKernel", 0);
    });
}

#[test]
fn older_drivers_tell_no_parameters_so_that_the_caller_says_them() {
    isolated!(Config::new().version(Version::new(12, 0)), || {
        let (context, twice) = kernel(c"twice");
        let stream = Stream::new(&context).unwrap();
        let mut x = DeviceBuffer::<f32>::allocate(&context, 8).unwrap();
        let mut y = DeviceBuffer::<f32>::allocate(&context, 8).unwrap();
        call::memset_d32(&mut x, 2.0_f32.to_bits()).unwrap();
        if twice.parameters().is_none() {
            let error = refused(&twice, &stream, (input(&x), output(&mut y)));
            assert_eq!(error.rule(), Some(Rule::Arguments));
        }
        let twice = twice.with_parameters(&[8, 8]).unwrap();
        // SAFETY: 8 threads touch as many elements of both buffers.
        unsafe { twice.launch(row(8), &stream, (input(&x), output(&mut y))) }.unwrap();
        let mut bytes = [0_u8; 32];
        call::memcpy_dtoh(&mut bytes, &y).unwrap();
        assert_eq!(bytes[28..], 4.0_f32.to_ne_bytes());
    });
}

#[test]
fn what_the_driver_says_of_parameters_is_not_unsaid() {
    isolated!(Config::new(), || {
        let (_context, twice) = kernel(c"twice");
        for sizes in [&[8][..], &[8, 4], &[8, 8, 8]] {
            let error = twice.clone().with_parameters(sizes).unwrap_err();
            assert_eq!(error.rule(), Some(Rule::Arguments));
        }
        twice.with_parameters(&[8, 8]).unwrap();
    });
}

#[test]
fn images_that_are_none_are_refused() {
    isolated!(lazy(), || {
        let context = Device::get(0).unwrap().context().unwrap();
        for text in [c"\x7fELF\x02\x01\x01", c"\xb1\x43\x62\x46", c"", c".version \xff"] {
            let error = Module::from_ptx(&context, text).unwrap_err();
            let refusal =
                "Module::from_ptx: `ptx` breaks Ptx: needs text in ASCII, has other bytes";
            assert_eq!(error.to_string(), refusal, "{text:?}");
        }
        expect_calls("cuModuleLoadData", 0);
        let error = Module::from_ptx(&context, c"tea for two").unwrap_err();
        let codes = [CUresult::CUDA_ERROR_INVALID_PTX, CUresult::CUDA_ERROR_INVALID_IMAGE];
        assert!(codes.map(Some).contains(&error.code()), "{error}");
        let module = Module::from_ptx(&context, PTX).unwrap();
        let error = module.function(c"thrice").unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_NOT_FOUND));
    });
}

#[test]
fn a_function_keeps_its_module_loaded() {
    isolated!(lazy(), || {
        let (context, twice) = kernel(c"twice");
        let stream = Stream::new(&context).unwrap();
        let x = DeviceBuffer::<f32>::allocate(&context, 8).unwrap();
        let mut y = DeviceBuffer::<f32>::allocate(&context, 8).unwrap();
        call::memset_d8(&mut y, 0).unwrap();
        // SAFETY: 8 threads touch as many elements of both buffers.
        unsafe { twice.launch(row(8), &stream, (input(&x), output(&mut y))) }.unwrap();
        expect_calls("cuModuleUnload", 0);
        drop(twice);
        expect_calls("cuModuleUnload", 1);
    });
}

#[test]
fn a_module_that_is_dropped_in_a_callback_is_unloaded_later() {
    isolated!(lazy(), || {
        let (context, twice) = kernel(c"twice");
        let stream = Stream::new(&context).unwrap();
        stream.call(move || drop(twice)).unwrap();
        stream.synchronize().unwrap();
        context.collect();
        assert_eq!(context.uncollected(), 0);
        expect_calls("cuModuleUnload", 1);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn a_kernel_says_what_it_can_be_given() {
    isolated!(Config::new(), || {
        let (_context, saxpy) = kernel(c"saxpy");
        assert_eq!(saxpy.parameters(), Some([4, 8, 8, 4].as_slice()));
        assert!(saxpy.max_threads_per_block().unwrap() >= 32);
        assert!(saxpy.blocks_per_multiprocessor(128, 0).unwrap() >= 1);
        saxpy.allow_shared(64 << 10).unwrap();
        let error = saxpy.allow_shared(u32::MAX).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
    });
}

#[test]
fn shared_memory_and_cooperation_are_part_of_the_shape() {
    isolated!(Config::new(), || {
        let (context, twice) = kernel(c"twice");
        let stream = PerThreadStream::new(&context);
        let mut x = DeviceBuffer::<f32>::allocate(&context, 32).unwrap();
        let mut y = DeviceBuffer::<f32>::allocate(&context, 32).unwrap();
        call::memset_d32(&mut x, 1.0_f32.to_bits()).unwrap();
        let mut launch = |shape| {
            // SAFETY: up to 32 threads touch as many elements of both buffers.
            unsafe { twice.launch(shape, &stream, (input(&x), output(&mut y))) }
        };
        launch(row(32).shared(1024).cooperative()).unwrap();
        // More than a device has, and no threads at all.
        launch(row(32).shared(1 << 30)).unwrap_err();
        launch(LaunchShape::new([0, 1, 1], [1, 1, 1])).unwrap_err();
        let mut bytes = [0_u8; 128];
        call::memcpy_dtoh(&mut bytes, &y).unwrap();
        assert_eq!(bytes[124..], 2.0_f32.to_ne_bytes());
    });
}

#[test]
fn every_call_of_a_launch_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        register();
        let context = Device::get(0)?.context()?;
        let saxpy = Module::from_ptx(&context, PTX)?.function(c"saxpy")?;
        saxpy.max_threads_per_block()?;
        saxpy.allow_shared(1024)?;
        saxpy.blocks_per_multiprocessor(64, 0)?;
        let [first, second] = [Stream::new(&context)?, Stream::new(&context)?];
        let source = PinnedBuffer::from_slice(&context, &[1.0_f32; 64])?;
        let mut answer = PinnedBuffer::<f32>::zeroed(&context, 64)?;
        let mut x = DeviceBuffer::<f32>::allocate(&context, 64)?;
        let mut y = DeviceBuffer::<f32>::allocate(&context, 64)?;
        call::memcpy_htod_async(&mut x, &source, &first)?;
        call::memcpy_htod_async(&mut y, &source, &second)?;
        let arguments = (2.0_f32, input(&x), inout(&mut y), 64_u32);
        // SAFETY: the kernel touches the 64 elements of both buffers.
        unsafe { saxpy.launch(LaunchShape::covering(64, 32), &second, arguments) }?;
        drop(x);
        drop(saxpy);
        call::memcpy_dtoh_async(&mut answer, &y, &first)?;
        assert_eq!(answer.as_slice()?, [3.0; 64]);
        second.synchronize()?;
        context.synchronize()
    });
}
