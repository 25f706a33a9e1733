//! Libraries: images that are loaded into each context when it first uses them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sys::CUresult;

use super::function::Settings;
use crate::engine::binary::{Entry, Image};
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::report::Side;

/// Is a library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) image: Arc<Image>,
    pub(crate) kernels: BTreeMap<String, Handle>,
    /// Its modules, by their contexts.
    pub(crate) modules: BTreeMap<Handle, Handle>,
    pub(crate) made_by: Side,
}

/// Is a kernel of a library: a function in each context.
#[derive(Debug)]
pub(crate) struct LibraryKernel {
    pub(crate) library: Handle,
    pub(crate) entry: Arc<Entry>,
    /// What was set of it, by device, for the contexts that have yet to load it and those that have.
    pub(crate) settings: BTreeMap<usize, Settings>,
}

impl State {
    /// Makes a library of an image.
    pub(crate) fn add_library(
        &mut self,
        call: &'static str,
        image: Image,
    ) -> Result<Handle, CUresult> {
        let out_of_memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let image = Arc::new(image);
        let library = Library {
            image: image.clone(),
            kernels: BTreeMap::new(),
            modules: BTreeMap::new(),
            made_by: Side::new(call, ""),
        };
        let handle = self.modules.libraries.insert_with(|_| library).ok_or(out_of_memory)?;
        for entry in &image.entries {
            let entry = Arc::new(entry.clone());
            let name = entry.name.clone();
            let kernel = LibraryKernel { library: handle, entry, settings: BTreeMap::new() };
            let kernel = self.modules.kernels.insert_with(|_| kernel).ok_or(out_of_memory)?;
            if let Some(library) = self.modules.libraries.get_mut(handle) {
                library.kernels.insert(name, kernel);
            }
        }
        Ok(handle)
    }

    /// Returns a library that a call names.
    pub(crate) fn library(&mut self, handle: Handle) -> Result<&Library, CUresult> {
        if let Some(ended) = self.modules.libraries.ended(handle) {
            self.stale("library", "the library was unloaded", ended);
        }
        self.modules.libraries.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns a kernel that a call names.
    pub(crate) fn kernel(&mut self, handle: Handle) -> Result<&LibraryKernel, CUresult> {
        if let Some(ended) = self.modules.kernels.ended(handle) {
            self.stale("kernel", "the kernel's library was unloaded", ended);
        }
        self.modules.kernels.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns a library's module in the current context, and loads it if it isn't there.
    pub(crate) fn library_module(
        &mut self,
        call: &'static str,
        library: Handle,
    ) -> Result<Handle, CUresult> {
        let context = self.context()?.handle;
        let found = self.library(library)?;
        if let Some(&module) = found.modules.get(&context) {
            return Ok(module);
        }
        let image = found.image.clone();
        let module = self.load_module(call, &image, Some(library))?;
        if let Some(library) = self.modules.libraries.get_mut(library) {
            library.modules.insert(context, module);
        }
        Ok(module)
    }

    /// Returns a kernel's function in the current context.
    pub(crate) fn kernel_function(
        &mut self,
        call: &'static str,
        kernel: Handle,
    ) -> Result<Handle, CUresult> {
        let device = self.context()?.device;
        let found = self.kernel(kernel)?;
        let (library, name) = (found.library, found.entry.name.clone());
        let settings = found.settings.get(&device).cloned();
        let module = self.library_module(call, library)?;
        let module = self.modules.modules.get(module);
        let function = module.and_then(|module| module.functions.get(&name)).copied();
        let function = function.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        if let (Some(settings), Some(function)) =
            (settings, self.modules.functions.get_mut(function))
        {
            function.settings = settings;
        }
        Ok(function)
    }
}
