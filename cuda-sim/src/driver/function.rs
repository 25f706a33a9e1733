//! Functions: what can be asked and set of a module's kernel.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{Mutex, PoisonError};

use cuda_sys::{
    CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUmodule, CUresult,
    CUsharedconfig,
};

use super::module::loads_eagerly;
use crate::engine::binary::Entry;
use crate::engine::handle::RawHandle;
use crate::engine::module::function::Function;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

/// Returns a name for C, that is kept for good: the driver's are its module's.
pub(crate) fn c_name(name: &str) -> *const c_char {
    static NAMES: Mutex<Option<HashSet<&'static CStr>>> = Mutex::new(None);
    let Ok(name) = CString::new(name) else { return c"".as_ptr() };
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name.as_c_str()) {
        return known.as_ptr();
    }
    let name: &'static CStr = Box::leak(name.into_boxed_c_str());
    names.insert(name);
    name.as_ptr()
}

/// Writes where a parameter is in the block of parameters, and how long.
pub(crate) fn write_parameter(
    entry: &Entry,
    index: usize,
    offset: &Out<usize>,
    size: &Out<usize>,
) -> Answer {
    offset.required()?;
    let parameter = entry.parameters.get(index).ok_or(INVALID_VALUE)?;
    offset.write(parameter.offset);
    size.write(parameter.size);
    Ok(())
}

/// Returns a function to change.
fn change(session: &mut Session, function: CUfunction) -> Result<&mut Function, CUresult> {
    let call = session.call();
    let handle = session.function_handle(call, function.number())?;
    session.modules.functions.get_mut(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

fn get(session: &mut Session, function: CUfunction) -> Result<&Function, CUresult> {
    change(session, function).map(|function| &*function)
}

/// Refuses a preference that no header has.
pub(crate) fn check_cache(config: CUfunc_cache) -> Answer {
    let known = CUfunc_cache::CONSTANTS.iter().any(|&(_, value)| value == config.0);
    if known { Ok(()) } else { Err(INVALID_VALUE) }
}

simulate! {
    /// Tells an attribute.
    fn cuFuncGetAttribute(
        value: out c_int, attribute: val CUfunction_attribute, function: val CUfunction,
    ) |mut session| {
        value.required()?;
        let function = get(&mut session, function)?;
        value.write(function.settings.get(&function.entry, attribute)?);
        Ok(())
    }

    /// Sets an attribute.
    fn cuFuncSetAttribute(
        function: val CUfunction, attribute: val CUfunction_attribute, value: val c_int,
    ) |mut session| {
        let function = change(&mut session, function)?;
        let entry = function.entry.clone();
        function.settings.set(&entry, attribute, value)
    }

    /// Takes a preference, which changes nothing.
    fn cuFuncSetCacheConfig(function: val CUfunction, config: val CUfunc_cache) |mut session| {
        get(&mut session, function)?;
        check_cache(config)
    }

    /// Takes a preference, which changes nothing.
    fn cuFuncSetSharedMemConfig(function: val CUfunction, config: val CUsharedconfig)
    |mut session| {
        get(&mut session, function)?;
        let known = CUsharedconfig::CONSTANTS.iter().any(|&(_, value)| value == config.0);
        if known { Ok(()) } else { Err(INVALID_VALUE) }
    }

    /// Tells the module.
    fn cuFuncGetModule(module: out CUmodule, function: val CUfunction) |mut session| {
        module.required()?;
        module.write(CUmodule::from_number(get(&mut session, function)?.module));
        Ok(())
    }

    /// Tells the name, as the image has it.
    fn cuFuncGetName(name: out *const c_char, function: val CUfunction) |mut session| {
        name.required()?;
        name.write(c_name(&get(&mut session, function)?.entry.name));
        Ok(())
    }

    /// Tells where a parameter is, and how long; 1 if there is none.
    fn cuFuncGetParamInfo(
        function: val CUfunction, index: val usize, offset: out usize, size: out usize,
    ) |mut session| {
        write_parameter(&get(&mut session, function)?.entry, index, &offset, &size)
    }

    /// Tells how many parameters there are.
    fn cuFuncGetParamCount(function: val CUfunction, count: out usize) |mut session| {
        count.required()?;
        count.write(get(&mut session, function)?.entry.parameters.len());
        Ok(())
    }

    /// Tells whether it is loaded, which a first launch does.
    fn cuFuncIsLoaded(state: out CUfunctionLoadingState, function: val CUfunction) |mut session| {
        state.required()?;
        let loaded = get(&mut session, function)?.is_loaded || loads_eagerly();
        state.write(if loaded {
            CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED
        } else {
            CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_UNLOADED
        });
        Ok(())
    }

    /// Loads it.
    fn cuFuncLoad(function: val CUfunction) |mut session| {
        change(&mut session, function)?.is_loaded = true;
        Ok(())
    }
}
