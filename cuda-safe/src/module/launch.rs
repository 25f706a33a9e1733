//! How a kernel is run: over how many threads, and with what.

use crate::shim::{Implied, KernelMemory, Reads, Used, Writes, reads, writes};

/// Says over how many threads a kernel runs: a grid of blocks of threads, along three axes each.
///
/// Driver: the first parameters of [`cuLaunchKernel`](crate::call::launch_kernel), chapter
/// Execution Control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "it only says how a kernel is run"]
pub struct LaunchShape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) cooperative: bool,
}

impl LaunchShape {
    /// Makes a grid of so many blocks, of so many threads each.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, shared: 0, cooperative: false }
    }

    /// Makes a row of as many blocks of `block` threads as cover `count` threads. The last block may
    /// go past the count, so that the kernel compares; there is always one.
    ///
    /// ```
    /// use cuda_safe::LaunchShape;
    ///
    /// assert_eq!(LaunchShape::covering(1000, 256), LaunchShape::new([4, 1, 1], [256, 1, 1]));
    /// assert_eq!(LaunchShape::covering(0, 256), LaunchShape::new([1, 1, 1], [256, 1, 1]));
    /// ```
    pub const fn covering(count: u32, block: u32) -> Self {
        let block = if block == 0 { 1 } else { block };
        let blocks = count.div_ceil(block);
        let blocks = if blocks == 0 { 1 } else { blocks };
        Self::new([blocks, 1, 1], [block, 1, 1])
    }

    /// Gives each block so many bytes of shared memory, beside what the kernel declares. More than
    /// 48 KiB in all need [`allow_shared`](crate::Function::allow_shared).
    pub const fn shared(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }

    /// Says that blocks wait for each other, so that the device must hold all of them at once.
    pub const fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }
}

/// Passes memory that the kernel only reads, by its address.
pub const fn input<M: KernelMemory + ?Sized>(memory: &M) -> Reads<'_, M> {
    reads(memory)
}

/// Passes memory that the kernel writes and does not read, by its address. What it does not write
/// stays as it was.
pub const fn output<M: KernelMemory + ?Sized>(memory: &mut M) -> Writes<'_, M> {
    writes(memory)
}

/// Passes memory that the kernel reads and writes, by its address.
pub const fn inout<M: KernelMemory + ?Sized>(memory: &mut M) -> Writes<'_, M> {
    writes(memory)
}

/// Names memory that the kernel uses without a parameter for it, so that the launch is ordered with
/// what else is done to it: a variable of its module, memory that a record of addresses leads to.
///
/// It stands behind the arguments, and is none itself.
///
/// ```
/// use cuda_safe::{Device, LaunchShape, Module, PinnedBuffer, Stream, implied, inout};
///
/// // Adds one to the variable.
/// const PTX: &std::ffi::CStr = c"
///     .version 7.0
///     .target sm_70
///     .address_size 64
///     .visible .global .align 4 .b32 counter[1] = {41};
///     .visible .entry count()
///     {
///         .reg .b32 %v;
///         ld.global.u32 %v, [counter]; add.u32 %v, %v, 1; st.global.u32 [counter], %v;
///         ret;
///     }
/// ";
///
/// # cuda_sim::kernel::register("count", |launch| {
/// #     let counter = launch.variable("counter")?;
/// #     let value = launch.read::<u32>(counter, 0)?;
/// #     launch.write(counter, 0, value + 1)
/// # });
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// let context = Device::get(0)?.context()?;
/// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
/// let module = Module::from_ptx(&context, PTX)?;
/// let (count, mut counter) = (module.function(c"count")?, module.global::<u32>(c"counter")?);
/// let one = LaunchShape::new([1, 1, 1], [1, 1, 1]);
/// // SAFETY: the kernel touches its variable only.
/// unsafe { count.launch(one, &first, (implied(inout(&mut counter)),)) }?;
///
/// let mut answer = PinnedBuffer::<u32>::zeroed(&context, 1)?;
/// answer.copy_from(&counter, &second)?; // Waits for the kernel.
/// assert_eq!(answer.as_slice()?, [42]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const fn implied<U: Used>(memory: U) -> Implied<U> {
    crate::shim::implied(memory)
}
