//! The linker: images are added, and joined into one.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_uint, c_void};

use cuda_sys::{CUjit_option, CUjitInputType, CUlinkState, CUresult};

use super::module::file;
use super::module::jit::JitOptions;
use crate::engine::binary::{Image, linked};
use crate::engine::handle::RawHandle;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// Is a linker's state.
#[derive(Debug)]
pub(crate) struct Link {
    inputs: Vec<Vec<u8>>,
    /// What was made of them; its address is the program's until the state is destroyed.
    output: Option<Vec<u8>>,
    /// What was asked for when it was made; its logs are written as images are added.
    options: JitOptions,
    pub(crate) made_by: Side,
}

fn create(
    mut session: Session,
    count: c_uint,
    options: &Out<CUjit_option>,
    values: &Out<*mut c_void>,
    out: &Out<CUlinkState>,
) -> Answer {
    out.required()?;
    session.context()?;
    let options = JitOptions::read(count, options, values)?;
    let made_by = Side::new(session.call(), "");
    let link = Link { inputs: Vec::new(), output: None, options, made_by };
    let handle = session.modules.links.insert_with(|_| link);
    let handle = handle.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    out.write(CUlinkState::from_number(handle));
    Ok(())
}

fn find(session: &mut Session, state: CUlinkState) -> Result<&mut Link, CUresult> {
    if let Some(ended) = session.modules.links.ended(state.number()) {
        session.stale("state", "the linker's state was destroyed; a real driver crashes", ended);
    }
    session.modules.links.get_mut(state.number()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

/// Adds an image. What only a compiler can read is not simulated.
fn add(
    mut session: Session,
    state: CUlinkState,
    kind: CUjitInputType,
    bytes: Result<Vec<u8>, CUresult>,
) -> Answer {
    use CUjitInputType as K;
    let target = session.target();
    let link = find(&mut session, state)?;
    match kind {
        K::CU_JIT_INPUT_CUBIN | K::CU_JIT_INPUT_PTX | K::CU_JIT_INPUT_FATBINARY => {}
        K::CU_JIT_INPUT_OBJECT | K::CU_JIT_INPUT_LIBRARY | K::CU_JIT_INPUT_NVVM => {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        _ => return Err(INVALID_VALUE),
    }
    let bytes = bytes?;
    link.options.done(Image::read_part(&bytes, target))?;
    link.inputs.push(bytes);
    Ok(())
}

/// Copies an image whose length the call says.
fn given(data: &Out<u8>, size: usize) -> Result<Vec<u8>, CUresult> {
    data.required()?;
    if size == 0 {
        return Err(INVALID_VALUE);
    }
    (0..size).map(|index| data.read_at(index)).collect()
}

simulate! {
    /// Makes a linker's state.
    fn cuLinkCreate(
        count: val c_uint, options: out CUjit_option, values: out *mut c_void,
        state: out CUlinkState,
    ) |session| {
        create(session, count, &options, &values, &state)
    }

    /// Makes a linker's state.
    fn cuLinkCreate_v2(
        count: val c_uint, options: out CUjit_option, values: out *mut c_void,
        state: out CUlinkState,
    ) |session| {
        create(session, count, &options, &values, &state)
    }

    /// Adds an image.
    fn cuLinkAddData(
        state: val CUlinkState, kind: val CUjitInputType, data: val *mut c_void, size: val usize,
        _name: into c_char, count: val c_uint, options: out CUjit_option, values: out *mut c_void,
    ) |session| {
        JitOptions::read(count, &options, &values)?;
        add(session, state, kind, given(&Out::of_attribute(data), size))
    }

    /// Adds an image.
    fn cuLinkAddData_v2(
        state: val CUlinkState, kind: val CUjitInputType, data: val *mut c_void, size: val usize,
        _name: into c_char, count: val c_uint, options: out CUjit_option, values: out *mut c_void,
    ) |session| {
        JitOptions::read(count, &options, &values)?;
        add(session, state, kind, given(&Out::of_attribute(data), size))
    }

    /// Adds a file.
    fn cuLinkAddFile(
        state: val CUlinkState, kind: val CUjitInputType, path: into c_char, count: val c_uint,
        options: out CUjit_option, values: out *mut c_void,
    ) |session| {
        JitOptions::read(count, &options, &values)?;
        let bytes = file(&path);
        add(session, state, kind, bytes)
    }

    /// Adds a file.
    fn cuLinkAddFile_v2(
        state: val CUlinkState, kind: val CUjitInputType, path: into c_char, count: val c_uint,
        options: out CUjit_option, values: out *mut c_void,
    ) |session| {
        JitOptions::read(count, &options, &values)?;
        let bytes = file(&path);
        add(session, state, kind, bytes)
    }

    /// Joins what was added, nothing too (measured). The result is an image of the simulator's own form, for its modules.
    fn cuLinkComplete(state: val CUlinkState, image: out *mut c_void, size: out usize)
    |mut session| {
        image.required()?;
        let target = session.target();
        let link = find(&mut session, state)?;
        let joined = linked::write(&link.inputs);
        // A name that nobody has is no fault of the PTX here (*manual*).
        link.options.done(Image::read(&joined, target)).map_err(|error| match error {
            CUresult::CUDA_ERROR_INVALID_PTX => CUresult::CUDA_ERROR_NOT_FOUND,
            other => other,
        })?;
        let output = link.output.insert(joined);
        image.write(output.as_mut_ptr().cast());
        size.write(output.len());
        Ok(())
    }

    /// Destroys a linker's state, and what it made.
    fn cuLinkDestroy(state: val CUlinkState) |mut session| {
        find(&mut session, state)?;
        session.modules.links.remove(state.number());
        Ok(())
    }
}
