//! Primary contexts: retained, released, reset. All answers are measured but the flags'.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint};

use cuda_sys::{CUcontext, CUdevice, CUresult};

use crate::driver::context::Context;
use crate::driver::context_settings::check_flags;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::state::State;
use crate::entry::{Session, simulate};

impl State {
    fn primary_context(&self, device: CUdevice) -> Result<&Context, CUresult> {
        let device = self.device(device)?;
        let handle = self.primary.get(device).copied().unwrap_or(0);
        self.contexts.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
    }

    fn change_primary(&mut self, handle: Handle, change: impl FnOnce(&mut Context)) {
        if let Some(context) = self.contexts.get_mut(handle) {
            change(context);
        }
    }
}

/// Ends a primary context when its work is done; whoever retains it keeps doing so.
fn end(session: Session, handle: Handle) -> Result<Session, CUresult> {
    let mut session = session.wait_for_context(handle)?;
    let call = session.call();
    session.end_context(handle, call);
    Ok(session)
}

fn release(session: Session, device: CUdevice) -> Result<(), CUresult> {
    let context = session.primary_context(device)?;
    let (handle, alive, retains) = (context.handle, context.alive, context.retains);
    let left = retains.checked_sub(1).ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    let mut session = if left == 0 && alive { end(session, handle)? } else { session };
    session.change_primary(handle, |context| context.retains = left);
    Ok(())
}

fn reset(session: Session, device: CUdevice) -> Result<(), CUresult> {
    let context = session.primary_context(device)?;
    if context.alive {
        let handle = context.handle;
        end(session, handle)?;
    }
    Ok(())
}

fn set_flags(mut session: Session, device: CUdevice, flags: c_uint) -> Result<(), CUresult> {
    check_flags(flags)?;
    let handle = session.primary_context(device)?.handle;
    session.change_primary(handle, |context| context.flags = flags);
    Ok(())
}

simulate! {
    /// Retains a device's primary context, and brings it to life if it isn't alive. Its handle is
    /// always the same; its id is not.
    fn cuDevicePrimaryCtxRetain(context: out CUcontext, device: val CUdevice) |mut session| {
        context.required()?;
        let primary = session.primary_context(device)?;
        let (handle, alive) = (primary.handle, primary.alive);
        session.struck.map_or(Ok(()), Err)?;
        if !alive {
            session.revive(handle);
        }
        session.change_primary(handle, |context| context.retains += 1);
        context.write(CUcontext::from_number(handle));
        Ok(())
    }

    /// Releases a retain; the last ends the context. One too many answers 201.
    fn cuDevicePrimaryCtxRelease(device: val CUdevice) |session| {
        release(session, device)
    }

    /// Releases a retain; the last ends the context. One too many answers 201.
    fn cuDevicePrimaryCtxRelease_v2(device: val CUdevice) |session| {
        release(session, device)
    }

    /// Ends the context and all that belongs to it; its retains stay.
    fn cuDevicePrimaryCtxReset(device: val CUdevice) |session| {
        reset(session, device)
    }

    /// Ends the context and all that belongs to it; its retains stay.
    fn cuDevicePrimaryCtxReset_v2(device: val CUdevice) |session| {
        reset(session, device)
    }

    /// Tells the flags, and whether the context is alive.
    fn cuDevicePrimaryCtxGetState(
        device: val CUdevice, flags: out c_uint, active: out c_int,
    ) |session| {
        flags.required()?;
        active.required()?;
        let context = session.primary_context(device)?;
        flags.write(context.flags);
        active.write(c_int::from(context.alive));
        Ok(())
    }

    /// Sets the flags, unless the context is alive.
    fn cuDevicePrimaryCtxSetFlags(device: val CUdevice, flags: val c_uint) |session| {
        if session.primary_context(device)?.alive {
            return Err(CUresult::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
        }
        set_flags(session, device, flags)
    }

    /// Sets the flags.
    fn cuDevicePrimaryCtxSetFlags_v2(device: val CUdevice, flags: val c_uint) |session| {
        set_flags(session, device, flags)
    }
}
