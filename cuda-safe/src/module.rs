//! Modules: code loaded into a context, its kernels, and their launches.
//!
//! | step | by |
//! |---|---|
//! | load PTX | [`Module::from_ptx`] |
//! | load a cubin or a fat binary | [`Module::from_image`], on the caller's word that it is whole |
//! | find a kernel | [`Module::function`] |
//! | find a variable | [`Module::global`] |
//! | say how many threads | [`LaunchShape`] |
//! | run it | [`Function::launch`], its arguments numbers and [`input`], [`output`], [`inout`] memory |
#![expect(unsafe_code, reason = "owns a module's handle and vouches for images")]

mod function;
mod global;
mod launch;

use std::ffi::CStr;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_sys::CUmodule;

use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::{Error, Quantity, Result, Rule};
use crate::memory::Element;
use crate::shim::{Allocation, Handle};

pub use function::Function;
pub use global::Global;
pub use launch::{LaunchShape, implied, inout, input, output};

/// Is code loaded into a context. Its clones, its functions and its variables keep it loaded.
///
/// The last drop unloads it, which waits for every kernel of the context; in a callback, and while a
/// stream uses a variable of it, it is put off to the next allocation, drop or synchronise.
///
/// Driver: [`CUmodule`](crate::sys::CUmodule), chapter Module Management.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

/// Is what a module and its functions share.
struct Loaded {
    raw: CUmodule,
    context: Context,
    /// The records of its variables that were asked for.
    variables: Mutex<Vec<Arc<Allocation>>>,
    /// The record of all variables without a number: of all addresses.
    unnumbered: OnceLock<Arc<Allocation>>,
}

// SAFETY: a module may be used from every thread.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Module {
    /// Compiles PTX for the context's device, and loads it. Waits for every kernel of the context.
    ///
    /// Driver: [`cuModuleLoadData`](crate::call::module_load_data).
    ///
    /// # Errors
    ///
    /// [`Rule::Ptx`] if it is no text that PTX could be; as the driver answers:
    /// `CUDA_ERROR_INVALID_PTX` or `CUDA_ERROR_INVALID_IMAGE`, and for PTX of a later release
    /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
    pub fn from_ptx(context: &Context, ptx: &CStr) -> Result<Self> {
        let bytes = ptx.to_bytes_with_nul();
        // The driver takes what begins as a binary for one, and reads as far as that says.
        let starts_as_text = bytes.first().is_some_and(|byte| (b'\t'..0x7f).contains(byte));
        if !starts_as_text || !bytes.is_ascii() {
            let (need, have) = (Quantity::Word("text in ASCII"), Quantity::Word("other bytes"));
            return Err(Error::refused("Module::from_ptx", "ptx", Rule::Ptx, need, have));
        }
        // SAFETY: it is text that ends with a zero byte, and begins as no binary does.
        unsafe { Self::from_image(context, bytes) }
    }

    /// Loads an image: a cubin or a fat binary. Waits for every kernel of the context.
    ///
    /// Driver: [`cuModuleLoadData`](crate::call::module_load_data).
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_IMAGE`, or `CUDA_ERROR_NO_BINARY_FOR_GPU` if it has
    /// no code for the device.
    ///
    /// # Safety
    ///
    /// The image is whole, as its own header says, or is PTX that ends with a zero byte.
    pub unsafe fn from_image(context: &Context, image: &[u8]) -> Result<Self> {
        // SAFETY: the caller's promise.
        let raw = unsafe { call::module_load_data(context, image) }?;
        let (variables, unnumbered) = (Mutex::default(), OnceLock::new());
        Ok(Self(Arc::new(Loaded { raw, context: context.clone(), variables, unnumbered })))
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Finds a kernel by its name, as the image has it: mangled unless it is `extern "C"`.
    ///
    /// Driver: [`cuModuleGetFunction`](crate::call::module_get_function), and
    /// [`cuFuncGetParamInfo`](crate::call::func_get_param_info) for its parameters.
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_NOT_FOUND` if there is none of that name.
    pub fn function(&self, name: &CStr) -> Result<Function> {
        Function::of(self, name)
    }

    /// Finds a variable by its name, as the image has it.
    ///
    /// Driver: [`cuModuleGetGlobal_v2`](crate::call::module_get_global).
    ///
    /// # Errors
    ///
    /// [`Rule::Quotient`] if it is not a whole number of elements, [`Rule::Align`] if it doesn't lie
    /// as they must. As the driver answers: `CUDA_ERROR_NOT_FOUND` if there is none of that name.
    pub fn global<T: Element>(&self, name: &CStr) -> Result<Global<T>> {
        Global::of(self, name)
    }
}

impl Loaded {
    /// Keeps the record of a variable, so that the module outlives what uses it.
    fn keep(&self, record: &Arc<Allocation>) {
        let mut variables = self.variables.lock().unwrap_or_else(PoisonError::into_inner);
        if variables.iter().all(|known| known.id() != record.id()) {
            variables.push(Arc::clone(record));
        }
    }

    /// Returns the record of variables that the driver does not number.
    fn unnumbered(&self) -> Arc<Allocation> {
        Arc::clone(self.unnumbered.get_or_init(|| Arc::new(Allocation::new(usize::MAX))))
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("context", &self.context().id()).finish_non_exhaustive()
    }
}

// SAFETY: the module stays loaded as long as the value, in its context.
unsafe impl Handle for Module {
    type Raw = CUmodule;

    fn raw(&self) -> CUmodule {
        self.0.raw
    }

    fn home(&self) -> Option<&Context> {
        Some(&self.0.context)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // The driver itself waits for its kernels; copies of its variables are waited for here.
        let variables = self.variables.get_mut().unwrap_or_else(PoisonError::into_inner);
        let module = Address::Module(self.raw.expose_provenance(), std::mem::take(variables));
        deferred::give_up(&self.context, module, Arc::new(Allocation::new(0)));
    }
}
