//! Functions of modules, with what is set of them.

use std::sync::Arc;

use cuda_sys::{CUfunction_attribute, CUresult};

use crate::engine::binary::Entry;
use crate::engine::handle::Handle;
use crate::engine::kernel::limit::{MOST_SHARED, MOST_THREADS, SHARED};
use crate::engine::kernel::occupancy::USUAL_REGISTERS;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;

/// Is a kernel of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) entry: Arc<Entry>,
    pub(crate) module: Handle,
    pub(crate) context: Handle,
    pub(crate) settings: Settings,
    pub(crate) is_loaded: bool,
}

/// Is what can be set of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The most shared memory that a launch may ask for.
    pub(crate) dynamic_shared: usize,
    carveout: i32,
    /// Whether clusters of more than eight blocks are allowed.
    pub(crate) non_portable: bool,
    scheduling: i32,
    /// The shape of clusters that launches must have.
    cluster: [i32; 3],
}

impl Settings {
    pub(crate) fn of(entry: &Entry) -> Self {
        let cluster = entry.cluster.unwrap_or_default();
        Self {
            dynamic_shared: SHARED.saturating_sub(entry.shared),
            carveout: -1,
            non_portable: false,
            scheduling: 0,
            cluster: cluster.map(|extent| i32::try_from(extent).unwrap_or(0)),
        }
    }

    /// Sets an attribute (manual: all others are read-only).
    pub(crate) fn set(
        &mut self,
        entry: &Entry,
        attribute: CUfunction_attribute,
        value: i32,
    ) -> Result<(), CUresult> {
        use CUfunction_attribute as A;
        let axis = match attribute {
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => 0,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => 1,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => 2,
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let bytes = usize::try_from(value).map_err(|_| INVALID_VALUE)?;
                if bytes > MOST_SHARED.saturating_sub(entry.shared) {
                    return Err(INVALID_VALUE);
                }
                self.dynamic_shared = bytes;
                return Ok(());
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                if !(-1..=100).contains(&value) {
                    return Err(INVALID_VALUE);
                }
                self.carveout = value;
                return Ok(());
            }
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                self.non_portable = value != 0;
                return Ok(());
            }
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                if !(0..=2).contains(&value) {
                    return Err(INVALID_VALUE);
                }
                self.scheduling = value;
                return Ok(());
            }
            _ => return Err(INVALID_VALUE),
        };
        // What the kernel was compiled with can't be changed (manual).
        if entry.cluster.is_some() {
            return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
        }
        if value < 0 {
            return Err(INVALID_VALUE);
        }
        if let Some(extent) = self.cluster.get_mut::<usize>(axis) {
            *extent = value;
        }
        Ok(())
    }

    /// Returns an attribute.
    pub(crate) fn get(
        &self,
        entry: &Entry,
        attribute: CUfunction_attribute,
    ) -> Result<i32, CUresult> {
        use CUfunction_attribute as A;
        let size = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
        let count = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        let [width, height, depth] = self.cluster;
        Ok(match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => {
                let block = entry.block.map(|block| block.iter().product());
                count(block.or(entry.most_threads).unwrap_or(MOST_THREADS).min(MOST_THREADS))
            }
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => size(entry.shared),
            A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => size(entry.constant),
            A::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => size(entry.local),
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => count(entry.registers.unwrap_or(USUAL_REGISTERS)),
            A::CU_FUNC_ATTRIBUTE_PTX_VERSION => count(entry.ptx),
            // PTX is compiled for the device.
            A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => 90,
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => size(self.dynamic_shared),
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => self.carveout,
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => {
                i32::from(entry.needs_cluster && entry.cluster.is_none())
            }
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => width,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => height,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => depth,
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => i32::from(self.non_portable),
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => self.scheduling,
            _ => return Err(INVALID_VALUE),
        })
    }
}

impl Function {
    pub(crate) fn new(entry: Arc<Entry>, module: Handle, context: Handle) -> Self {
        let settings = Settings::of(&entry);
        Self { entry, module, context, settings, is_loaded: false }
    }

    /// Returns the shape of a launch's clusters, of which one may be asked for.
    pub(crate) fn cluster(&self, asked: Option<[u32; 3]>) -> Result<[u32; 3], CUresult> {
        let set = self.settings.cluster.map(|extent| u32::try_from(extent).unwrap_or(0));
        let required = (set != [0; 3]).then(|| set.map(|extent| extent.max(1)));
        match (required, asked) {
            (Some(required), Some(asked)) if required != asked => Err(INVALID_VALUE),
            (_, Some(asked)) if asked.contains(&0) => Err(INVALID_VALUE),
            (Some(shape), _) | (None, Some(shape)) => Ok(shape),
            (None, None) if self.entry.needs_cluster => {
                Err(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE)
            }
            (None, None) => Ok([1; 3]),
        }
    }
}

impl State {
    /// Returns a function that a call names: a module's, or a library's kernel in the current
    /// context. 400 if it is none, or its module was unloaded (measured).
    pub(crate) fn function(
        &mut self,
        call: &'static str,
        handle: Handle,
    ) -> Result<&Function, CUresult> {
        let handle = self.function_handle(call, handle)?;
        self.modules.functions.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns the function that a handle means, which may be a kernel's.
    pub(crate) fn function_handle(
        &mut self,
        call: &'static str,
        handle: Handle,
    ) -> Result<Handle, CUresult> {
        if self.modules.functions.get(handle).is_some() {
            return Ok(handle);
        }
        if self.modules.kernels.get(handle).is_some() {
            return self.kernel_function(call, handle);
        }
        let functions = self.modules.functions.ended(handle);
        if let Some(ended) = functions.or_else(|| self.modules.kernels.ended(handle)) {
            self.stale("f", "the function's module was unloaded", ended);
        }
        Err(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}
