//! Modules, kernels and launches.

use std::ffi::CStr;

use cuda_safe::shim::{Adopted, Handle, reads, writes};
use cuda_safe::sys::CUfunction_attribute;
use cuda_safe::{
    DeviceBuffer, LaunchShape, Module, PinnedBuffer, Stream, call, inout, input, output,
};

/// Its kernel does what is registered for it.
const PTX: &CStr = c"
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }
";

/// Says what the kernel does: it adds the numbers of `x` to those of `y`.
fn register() {
    cuda_sim::kernel::register("add", |launch| {
        let (x, y, n) = (launch.pointer(0)?, launch.pointer(1)?, launch.parameter::<u32>(2)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            if index < n.into() {
                let sum = launch.read::<u32>(x, index)? + launch.read::<u32>(y, index)?;
                launch.write(y, index, sum)?;
            }
            Ok(())
        })
    });
}

#[test]
fn kernels_are_launched() {
    each_call_fails!(
        [Module::from_ptx, Module::from_image, Module::function, Function::launch],
        |given| {
            register();
            let (context, first) = given.stream()?;
            let second = Stream::new(&context)?;
            let module = Module::from_ptx(&context, PTX)?;
            // SAFETY: the text ends with a zero byte.
            let again = unsafe { Module::from_image(&context, PTX.to_bytes_with_nul()) }?;
            let add = module.function(c"add")?;
            let x = DeviceBuffer::filled(&first, 64, 1_u32)?;
            let mut y = DeviceBuffer::filled(&second, 64, 2_u32)?;
            let mut answer = PinnedBuffer::<u32>::zeroed(&context, 64)?;
            let shape = LaunchShape::covering(64, 32);
            // SAFETY: the kernel touches the 64 elements of both buffers.
            unsafe { add.launch(shape, &second, (input(&x), inout(&mut y), 64_u32)) }?;
            let together = shape.cooperative();
            // SAFETY: as above.
            unsafe { add.launch(together, &second, (input(&x), output(&mut y), 64_u32)) }?;
            call::memcpy_dtoh_async(&mut answer, &y, &first)?;
            drop((module, again, add, x));
            assert_eq!(answer.as_slice()?, [4; 64]);
            second.synchronize()
        }
    );
}

#[test]
fn kernels_tell_of_themselves() {
    each_call_fails!(
        [
            Function::attribute,
            Function::max_threads_per_block,
            Function::allow_shared,
            Function::blocks_per_multiprocessor,
            shim::Adopted::kernel,
        ],
        |given| {
            register();
            let context = given.context()?;
            let add = Module::from_ptx(&context, PTX)?.function(c"add")?;
            let bytes = CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
            assert_eq!(add.attribute(bytes)?, 0);
            assert!(add.max_threads_per_block()? >= 32);
            add.allow_shared(1024)?;
            assert!(add.blocks_per_multiprocessor(64, 1024)? > 0);
            // SAFETY: the function is alive, and of the context.
            let adopted = unsafe { Adopted::kernel(add.raw(), &context) }?;
            assert_eq!(adopted.parameters(), add.parameters());
            Ok(())
        }
    );
}

#[test]
fn what_kernels_know_without_asking() {
    asks_no_driver!(
        [
            Module::context,
            Function::module,
            Function::parameters,
            Function::with_parameters,
            LaunchShape::new,
            LaunchShape::covering,
            LaunchShape::shared,
            LaunchShape::cooperative,
            input,
            output,
            inout,
            shim::reads,
            shim::writes,
            shim::Adopted::new,
            shim::Handle::raw,
            shim::Handle::home,
            shim::Handle::parameters,
        ],
        |given| {
            register();
            let context = given.context()?;
            let buffer = DeviceBuffer::<u32>::allocate(&context, 4)?;
            Ok((Module::from_ptx(&context, PTX)?.function(c"add")?, buffer))
        },
        |(add, mut buffer)| {
            assert_eq!(add.module().context(), buffer.context());
            assert_eq!(add.parameters(), Some(&[8, 8, 4][..]));
            let add = add.with_parameters(&[8, 8, 4])?;
            assert_ne!(LaunchShape::new([1; 3], [1; 3]).shared(8), LaunchShape::covering(64, 32));
            assert_ne!(LaunchShape::new([1; 3], [1; 3]).cooperative(), LaunchShape::covering(1, 1));
            let _arguments = (input(&buffer), reads(&buffer));
            let _argument = output(&mut buffer);
            let _argument = inout(&mut buffer);
            let _argument = writes(&mut buffer);
            // SAFETY: nothing is done with it.
            let adopted = unsafe { Adopted::new(add.raw(), add.home()) };
            assert_eq!(adopted.home(), add.home());
            assert_eq!(Handle::parameters(&adopted), None);
            Ok((add, adopted, buffer))
        }
    );
}
