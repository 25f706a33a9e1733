//! Kernels: what they are, and how they are run.
#![expect(unsafe_code, reason = "vouches for a function's handle, and runs kernels")]

use std::ffi::CStr;
use std::fmt;

use cuda_sys::{CUfunction, CUfunction_attribute as Attribute};

use super::{LaunchShape, Module};
use crate::call;
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{AnyStream, Arguments, Handle, parameter_sizes};

/// Is a kernel of a module, which it keeps loaded.
///
/// Driver: [`CUfunction`](crate::sys::CUfunction), chapters Module Management and Execution
/// Control.
#[derive(Clone)]
pub struct Function {
    raw: RawFunction,
    /// The sizes of its parameters, as far as somebody knows them.
    parameters: Option<Vec<usize>>,
    module: Module,
}

#[derive(Clone, Copy)]
struct RawFunction(CUfunction);

// SAFETY: a function may be used from every thread.
unsafe impl Send for RawFunction {}
// SAFETY: as above.
unsafe impl Sync for RawFunction {}

impl Function {
    pub(super) fn of(module: &Module, name: &CStr) -> Result<Self> {
        let raw = RawFunction(call::module_get_function(module, name)?);
        let mut function = Self { raw, parameters: None, module: module.clone() };
        function.parameters = parameter_sizes(&function)?;
        Ok(function)
    }

    /// Returns the module.
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the bytes of each parameter; none if the driver does not tell (before CUDA 12.4) and
    /// nobody else did.
    pub fn parameters(&self) -> Option<&[usize]> {
        self.parameters.as_deref()
    }

    /// Says how many bytes each parameter has, where the driver does not.
    ///
    /// # Errors
    ///
    /// [`Rule::Arguments`] if the driver says something else.
    pub fn with_parameters(mut self, sizes: &[usize]) -> Result<Self> {
        if let Some(known) = &self.parameters {
            let refuse = |need: usize, have: usize| {
                let (need, have) = (need.into(), have.into());
                let call = "Function::with_parameters";
                Err(Error::refused(call, "sizes", Rule::Arguments, need, have))
            };
            if known.len() != sizes.len() {
                return refuse(known.len(), sizes.len());
            }
            if let Some((known, said)) = known.iter().zip(sizes).find(|(known, said)| known != said)
            {
                return refuse(*known, *said);
            }
        }
        self.parameters = Some(sizes.to_vec());
        Ok(self)
    }

    /// Runs the kernel, in the order of `stream`.
    ///
    /// Arguments are a tuple: numbers and records without padding, and memory, of which is said what
    /// the kernel does with it. The stream waits for what the kernel must not pass, and what comes
    /// later waits for the kernel; no wait is needed where both are on one stream.
    ///
    /// ```
    /// use cuda_safe::{Device, DeviceBuffer, LaunchShape, Module, Stream, inout};
    ///
    /// // Adds one to each of `n` numbers.
    /// const PTX: &std::ffi::CStr = cr"
    ///     .version 7.0
    ///     .target sm_70
    ///     .address_size 64
    ///     .visible .entry increment(.param .u64 values, .param .u32 n)
    ///     {
    ///         .reg .pred %p; .reg .b32 %i, %s, %b, %t, %n, %v; .reg .b64 %a, %o;
    ///         mov.u32 %b, %ctaid.x; mov.u32 %s, %ntid.x; mov.u32 %t, %tid.x;
    ///         mad.lo.u32 %i, %b, %s, %t;
    ///         ld.param.u32 %n, [n];
    ///         setp.ge.u32 %p, %i, %n;
    ///         @%p ret;
    ///         ld.param.u64 %a, [values];
    ///         mul.wide.u32 %o, %i, 4;
    ///         add.u64 %a, %a, %o;
    ///         ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v;
    ///         ret;
    ///     }
    /// ";
    ///
    /// # cuda_sim::kernel::register("increment", |launch| {
    /// #     let (values, n) = (launch.pointer(0)?, launch.parameter::<u32>(1)?);
    /// #     for index in 0..n.into() {
    /// #         let value = launch.read::<u32>(values, index)?;
    /// #         launch.write(values, index, value + 1)?;
    /// #     }
    /// #     Ok(())
    /// # });
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// let context = Device::get(0)?.context()?;
    /// let stream = Stream::new(&context)?;
    /// let increment = Module::from_ptx(&context, PTX)?.function(c"increment")?;
    ///
    /// let mut values = DeviceBuffer::<u32>::allocate(&context, 1000)?;
    /// cuda_safe::call::memset_d32_async(&mut values, 41, &stream)?;
    /// let shape = LaunchShape::covering(1000, 256);
    /// // SAFETY: the kernel writes the first 1000 of as many numbers.
    /// unsafe { increment.launch(shape, &stream, (inout(&mut values), 1000_u32)) }?;
    ///
    /// let mut answer = [0_u8; 4000];
    /// cuda_safe::call::memcpy_dtoh(&mut answer, &values)?;
    /// assert_eq!(answer[..4], 42_u32.to_ne_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuLaunchKernel`](crate::call::launch_kernel), or
    /// [`cuLaunchCooperativeKernel`](crate::call::launch_cooperative_kernel) if the shape says so.
    ///
    /// # Errors
    ///
    /// [`Rule::Arguments`] if the arguments are not as many and as large as the parameters, or if
    /// these are not known: see [`with_parameters`](Self::with_parameters). [`Rule::Home`] if the
    /// stream or memory is of another context. As the driver answers, to this or to earlier work.
    ///
    /// # Safety
    ///
    /// The kernel touches no other memory than its arguments name and its module has; it only reads
    /// what is an [`input`](super::input); what it finds in memory are values that it can take, and
    /// what it leaves there are values of the memory's elements.
    pub unsafe fn launch(
        &self,
        shape: LaunchShape,
        stream: &impl AnyStream,
        arguments: impl Arguments,
    ) -> Result<()> {
        if self.parameters.is_none() {
            return Err(unchecked());
        }
        let LaunchShape { grid: [x, y, z], block, shared, cooperative } = shape;
        let [across, down, deep] = block;
        if cooperative {
            // SAFETY: the caller's promise.
            unsafe {
                call::launch_cooperative_kernel(
                    self, x, y, z, across, down, deep, shared, stream, arguments,
                )
            }
        } else {
            // SAFETY: the caller's promise.
            unsafe {
                call::launch_kernel(self, x, y, z, across, down, deep, shared, stream, arguments)
            }
        }
    }

    /// Returns an attribute.
    ///
    /// Driver: [`cuFuncGetAttribute`](crate::call::func_get_attribute).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn attribute(&self, attribute: Attribute) -> Result<i32> {
        call::func_get_attribute(attribute, self)
    }

    /// Returns how many threads a block may have: what the device allows, or less if the kernel
    /// needs many registers.
    ///
    /// Driver: [`cuFuncGetAttribute`](crate::call::func_get_attribute),
    /// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn max_threads_per_block(&self) -> Result<u32> {
        let most = self.attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        Ok(u32::try_from(most).unwrap_or(0))
    }

    /// Allows blocks more shared memory than the 48 KiB that every device has, up to `bytes` beside
    /// what the kernel declares.
    ///
    /// Driver: [`cuFuncSetAttribute`](crate::call::func_set_attribute),
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_VALUE` if the device has not so much.
    pub fn allow_shared(&self, bytes: u32) -> Result<()> {
        let most = i32::try_from(bytes).unwrap_or(i32::MAX);
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        call::func_set_attribute(self, attribute, most)
    }

    /// Returns how many blocks of `threads` threads and `shared` bytes of shared memory a
    /// multiprocessor holds at once.
    ///
    /// Driver:
    /// [`cuOccupancyMaxActiveBlocksPerMultiprocessor`](crate::call::occupancy_max_active_blocks_per_multiprocessor).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> Result<u32> {
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        let shared = usize::try_from(shared).unwrap_or(usize::MAX);
        let blocks = call::occupancy_max_active_blocks_per_multiprocessor(self, threads, shared)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }
}

#[cold]
fn unchecked() -> Error {
    let need = Quantity::Word("parameters of known sizes");
    let have = Quantity::Word("unknown ones: say them by `with_parameters`");
    Error::refused("Function::launch", "arguments", Rule::Arguments, need, have)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("parameters", &self.parameters)
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}

// SAFETY: the module, which the value keeps, has the function in its context.
unsafe impl Handle for Function {
    type Raw = CUfunction;

    fn raw(&self) -> CUfunction {
        self.raw.0
    }

    fn home(&self) -> Option<&Context> {
        self.module.home()
    }

    fn parameters(&self) -> Option<&[usize]> {
        self.parameters.as_deref()
    }
}
