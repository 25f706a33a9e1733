//! Libraries and their kernels, which no context owns.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_sys::{
    CUdevice, CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUjit_option, CUkernel,
    CUlibrary, CUlibraryOption, CUmodule, CUresult,
};

use super::function::{c_name, check_cache, write_parameter};
use super::module::jit::JitOptions;
use super::module::{file, read_image, source, write_handles, write_variable};
use crate::engine::binary::VariableSpace;
use crate::engine::handle::RawHandle;
use crate::engine::module::function::Settings;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

/// Makes a library; its image is loaded into a context when that first uses it.
fn load(
    mut session: Session,
    out: &Out<CUlibrary>,
    bytes: Result<Vec<u8>, CUresult>,
    options: &JitOptions,
) -> Answer {
    out.required()?;
    let image = read_image(&session, bytes, options)?;
    let call = session.call();
    let library = session.add_library(call, image)?;
    out.write(CUlibrary::from_number(library));
    Ok(())
}

/// Refuses options that no header has, or that need what isn't simulated.
fn check_options(count: c_uint, options: &Out<CUlibraryOption>) -> Answer {
    for index in 0..usize::try_from(count).map_err(|_| INVALID_VALUE)? {
        match options.read_at(index)? {
            CUlibraryOption::CU_LIBRARY_BINARY_IS_PRESERVED => {}
            CUlibraryOption::CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE => {
                return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
            }
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}

simulate! {
    /// Makes a library of an image.
    fn cuLibraryLoadData(
        library: out CUlibrary, code: val *const c_void, options: out CUjit_option,
        values: out *mut c_void, count: val c_uint, library_options: out CUlibraryOption,
        _library_values: out *mut c_void, library_count: val c_uint,
    ) |session| {
        let options = JitOptions::read(count, &options, &values)?;
        check_options(library_count, &library_options)?;
        load(session, &library, source::image_at(code), &options)
    }

    /// Makes a library of a file.
    fn cuLibraryLoadFromFile(
        library: out CUlibrary, path: into c_char, options: out CUjit_option,
        values: out *mut c_void, count: val c_uint, library_options: out CUlibraryOption,
        _library_values: out *mut c_void, library_count: val c_uint,
    ) |session| {
        let options = JitOptions::read(count, &options, &values)?;
        check_options(library_count, &library_options)?;
        let bytes = file(&path);
        load(session, &library, bytes, &options)
    }

    /// Unloads a library from all contexts, when their work is done, as a module is.
    fn cuLibraryUnload(library: val CUlibrary) |mut session| {
        let handle = library.number();
        let contexts: Vec<_> = session.library(handle)?.modules.keys().copied().collect();
        for context in contexts {
            session = session.drain_context(context)?;
        }
        let call = session.call();
        let Some(library) = session.modules.libraries.remove(handle) else {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        };
        for module in library.modules.values() {
            session.unload_module(*module, call);
        }
        for kernel in library.kernels.values() {
            session.modules.kernels.remove(*kernel);
        }
        Ok(())
    }

    /// Finds a kernel by its name.
    fn cuLibraryGetKernel(kernel: out CUkernel, library: val CUlibrary, name: into c_char)
    |mut session| {
        kernel.required()?;
        let name = name.text()?;
        let found = session.library(library.number())?.kernels.get(&name).copied();
        kernel.write(CUkernel::from_number(found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?));
        Ok(())
    }

    /// Tells how many kernels a library has.
    fn cuLibraryGetKernelCount(count: out c_uint, library: val CUlibrary) |mut session| {
        count.required()?;
        let kernels = session.library(library.number())?.kernels.len();
        count.write(c_uint::try_from(kernels).unwrap_or(c_uint::MAX));
        Ok(())
    }

    /// Lists a library's kernels, by their names.
    fn cuLibraryEnumerateKernels(
        kernels: out CUkernel, room: val c_uint, library: val CUlibrary,
    ) |mut session| {
        let found = session.library(library.number())?;
        write_handles(&kernels, room, found.kernels.values().copied())
    }

    /// Returns a library's module in the current context.
    fn cuLibraryGetModule(module: out CUmodule, library: val CUlibrary) |mut session| {
        module.required()?;
        let call = session.call();
        let found = session.library_module(call, library.number())?;
        module.write(CUmodule::from_number(found));
        Ok(())
    }

    /// Finds a variable in the current context; managed ones are found elsewhere (*manual*).
    fn cuLibraryGetGlobal(
        address: out CUdeviceptr, bytes: out usize, library: val CUlibrary, name: into c_char,
    ) |mut session| {
        let (name, call) = (name.text()?, session.call());
        let module = session.library_module(call, library.number())?;
        write_variable(&address, &bytes, session.modules.variable(module, &name))
    }

    /// Finds a managed variable.
    fn cuLibraryGetManaged(
        address: out CUdeviceptr, bytes: out usize, library: val CUlibrary, name: into c_char,
    ) |mut session| {
        let (name, call) = (name.text()?, session.call());
        let module = session.library_module(call, library.number())?;
        let found = session.modules.variable(module, &name);
        let managed = found.filter(|found| found.space == VariableSpace::Managed);
        write_variable(&address, &bytes, managed)
    }

    /// Finds no function for host and device: there are none.
    fn cuLibraryGetUnifiedFunction(
        _function: out *mut c_void, library: val CUlibrary, name: into c_char,
    ) |mut session| {
        name.text()?;
        session.library(library.number())?;
        Err(CUresult::CUDA_ERROR_NOT_FOUND)
    }

    /// Returns a kernel's function in the current context.
    fn cuKernelGetFunction(function: out CUfunction, kernel: val CUkernel) |mut session| {
        function.required()?;
        let call = session.call();
        let found = session.kernel_function(call, kernel.number())?;
        function.write(CUfunction::from_number(found));
        Ok(())
    }

    /// Returns a kernel's library.
    fn cuKernelGetLibrary(library: out CUlibrary, kernel: val CUkernel) |mut session| {
        library.required()?;
        library.write(CUlibrary::from_number(session.kernel(kernel.number())?.library));
        Ok(())
    }

    /// Tells an attribute on a device.
    fn cuKernelGetAttribute(
        value: out c_int, attribute: val CUfunction_attribute, kernel: val CUkernel,
        device: val CUdevice,
    ) |mut session| {
        value.required()?;
        let device = session.device(device)?;
        let kernel = session.kernel(kernel.number())?;
        let own = kernel.settings.get(&device).cloned();
        let settings = own.unwrap_or_else(|| Settings::of(&kernel.entry));
        value.write(settings.get(&kernel.entry, attribute)?);
        Ok(())
    }

    /// Sets an attribute on a device.
    fn cuKernelSetAttribute(
        attribute: val CUfunction_attribute, value: val c_int, kernel: val CUkernel,
        device: val CUdevice,
    ) |mut session| {
        let device = session.device(device)?;
        session.kernel(kernel.number())?;
        let found = session.modules.kernels.get_mut(kernel.number());
        let kernel = found.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        let entry = kernel.entry.clone();
        let settings = kernel.settings.entry(device).or_insert_with(|| Settings::of(&entry));
        settings.set(&entry, attribute, value)
    }

    /// Takes a preference, which changes nothing.
    fn cuKernelSetCacheConfig(
        kernel: val CUkernel, config: val CUfunc_cache, device: val CUdevice,
    ) |mut session| {
        session.device(device)?;
        session.kernel(kernel.number())?;
        check_cache(config)
    }

    /// Tells the name, as the image has it.
    fn cuKernelGetName(name: out *const c_char, kernel: val CUkernel) |mut session| {
        name.required()?;
        name.write(c_name(&session.kernel(kernel.number())?.entry.name));
        Ok(())
    }

    /// Tells where a parameter is, and how long; 1 if there is none.
    fn cuKernelGetParamInfo(
        kernel: val CUkernel, index: val usize, offset: out usize, size: out usize,
    ) |mut session| {
        write_parameter(&session.kernel(kernel.number())?.entry, index, &offset, &size)
    }

    /// Tells how many parameters there are.
    fn cuKernelGetParamCount(kernel: val CUkernel, count: out usize) |mut session| {
        count.required()?;
        count.write(session.kernel(kernel.number())?.entry.parameters.len());
        Ok(())
    }
}
