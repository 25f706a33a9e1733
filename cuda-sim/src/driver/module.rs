//! Modules: loaded, unloaded, and what is in them.
#![expect(non_snake_case, reason = "functions have the names of C")]

pub(crate) mod jit;
pub(crate) mod source;

use std::ffi::{c_char, c_uint, c_void};

use cuda_sys::{
    CUdeviceptr, CUfunction, CUjit_option, CUmodule, CUmoduleLoadingMode, CUresult, CUsurfref,
    CUtexref,
};

use self::jit::JitOptions;
use crate::engine::binary::Image;
use crate::engine::handle::RawHandle;
use crate::engine::module::Loaded;
use crate::entry::{Answer, INVALID_VALUE, In, Out, Session, simulate};

/// Reads an image, and says in the logs what became of it.
pub(crate) fn read_image(
    session: &Session,
    bytes: Result<Vec<u8>, CUresult>,
    options: &JitOptions,
) -> Result<Image, CUresult> {
    options.done(Image::read(&bytes?, session.target()))
}

/// Reads a file; 301 if there is none (*manual*).
pub(crate) fn file(path: &In<c_char>) -> Result<Vec<u8>, CUresult> {
    std::fs::read(path.text()?).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)
}

/// Loads an image when all work of the context is done (measured).
fn load(
    session: Session,
    out: &Out<CUmodule>,
    bytes: Result<Vec<u8>, CUresult>,
    options: &JitOptions,
) -> Answer {
    out.required()?;
    let context = session.context()?.handle;
    let image = read_image(&session, bytes, options)?;
    let mut session = session.drain_context(context)?;
    let call = session.call();
    let module = session.load_module(call, &image, None)?;
    out.write(CUmodule::from_number(module));
    Ok(())
}

/// Writes where a variable is, and how long.
pub(crate) fn write_variable(
    address: &Out<CUdeviceptr>,
    bytes: &Out<usize>,
    found: Option<Loaded>,
) -> Answer {
    let found = found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    address.write(CUdeviceptr(found.address));
    bytes.write(found.size);
    Ok(())
}

/// Writes handles, as many as there is room for.
pub(crate) fn write_handles<T: RawHandle>(
    out: &Out<T>,
    room: c_uint,
    handles: impl Iterator<Item = u64>,
) -> Answer {
    let room = usize::try_from(room).map_err(|_| INVALID_VALUE)?;
    if room == 0 {
        return Ok(());
    }
    out.required()?;
    for (position, handle) in handles.take(room).enumerate() {
        out.write_at(position, T::from_number(handle));
    }
    Ok(())
}

/// Tells that a module has no references of an old kind.
fn no_reference(mut session: Session, module: CUmodule, name: &In<c_char>) -> Answer {
    name.text()?;
    session.module(module.number())?;
    Err(CUresult::CUDA_ERROR_NOT_FOUND)
}

/// Tells whether functions are loaded with their module, as the environment may ask.
pub(crate) fn loads_eagerly() -> bool {
    std::env::var("CUDA_MODULE_LOADING").is_ok_and(|mode| mode.eq_ignore_ascii_case("eager"))
}

simulate! {
    /// Loads an image from a file.
    fn cuModuleLoad(module: out CUmodule, path: into c_char) |session| {
        session.context()?;
        let bytes = file(&path);
        load(session, &module, bytes, &JitOptions::none())
    }

    /// Loads an image.
    fn cuModuleLoadData(module: out CUmodule, image: val *const c_void) |session| {
        session.context()?;
        load(session, &module, source::image_at(image), &JitOptions::none())
    }

    /// Loads an image, and writes logs.
    fn cuModuleLoadDataEx(
        module: out CUmodule, image: val *const c_void, count: val c_uint,
        options: out CUjit_option, values: out *mut c_void,
    ) |session| {
        session.context()?;
        let options = JitOptions::read(count, &options, &values)?;
        load(session, &module, source::image_at(image), &options)
    }

    /// Loads a fat binary.
    fn cuModuleLoadFatBinary(module: out CUmodule, image: val *const c_void) |session| {
        session.context()?;
        load(session, &module, source::image_at(image), &JitOptions::none())
    }

    /// Unloads a module when all work of its context is done (measured). That of a library goes with
    /// it (*manual*: 800).
    fn cuModuleUnload(module: val CUmodule) |mut session| {
        let handle = module.number();
        let found = session.module(handle)?;
        let (context, library) = (found.context, found.library);
        if library.is_some() {
            return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
        }
        let mut session = session.drain_context(context)?;
        let call = session.call();
        session.unload_module(handle, call);
        Ok(())
    }

    /// Finds a kernel by its name.
    fn cuModuleGetFunction(
        function: out CUfunction, module: val CUmodule, name: into c_char,
    ) |mut session| {
        function.required()?;
        let name = name.text()?;
        let found = session.module(module.number())?;
        let context = found.context;
        let handle = found.functions.get(&name).copied();
        session.usable(context)?;
        let handle = handle.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        function.write(CUfunction::from_number(handle));
        Ok(())
    }

    /// Tells how many kernels a module has.
    fn cuModuleGetFunctionCount(count: out c_uint, module: val CUmodule) |mut session| {
        count.required()?;
        let functions = session.module(module.number())?.functions.len();
        count.write(c_uint::try_from(functions).unwrap_or(c_uint::MAX));
        Ok(())
    }

    /// Lists a module's kernels, by their names.
    fn cuModuleEnumerateFunctions(
        functions: out CUfunction, room: val c_uint, module: val CUmodule,
    ) |mut session| {
        let found = session.module(module.number())?;
        write_handles(&functions, room, found.functions.values().copied())
    }

    /// Finds a variable by its name.
    fn cuModuleGetGlobal_v2(
        address: out CUdeviceptr, bytes: out usize, module: val CUmodule, name: into c_char,
    ) |mut session| {
        let name = name.text()?;
        let context = session.module(module.number())?.context;
        session.usable(context)?;
        write_variable(&address, &bytes, session.modules.variable(module.number(), &name))
    }

    /// Finds no texture reference: there are none.
    fn cuModuleGetTexRef(_reference: out CUtexref, module: val CUmodule, name: into c_char)
    |session| {
        no_reference(session, module, &name)
    }

    /// Finds no surface reference: there are none.
    fn cuModuleGetSurfRef(_reference: out CUsurfref, module: val CUmodule, name: into c_char)
    |session| {
        no_reference(session, module, &name)
    }

    /// Tells whether functions are loaded with their module: only if the environment asks for it.
    fn cuModuleGetLoadingMode(mode: out CUmoduleLoadingMode) |_session| {
        mode.required()?;
        mode.write(if loads_eagerly() {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING
        } else {
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING
        });
        Ok(())
    }
}
