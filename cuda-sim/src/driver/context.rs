//! Contexts, and which one is current.
//!
//! Primary contexts are retained and reset in `primary_context`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::collections::HashSet;
use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sys::{
    CUcontext, CUctx_flags, CUctxCreateParams, CUdevice, CUexecAffinityParam, CUresult,
};

use crate::call_site;
use crate::driver::context_settings::Settings;
use crate::engine::current;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::lane::{LaneKind, OwnLanes};
use crate::engine::registry::MemoryKind;
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// Is a context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) device: usize,
    pub(crate) is_primary: bool,
    /// Whether it exists; a primary one may not, and has its handle all the same (measured).
    pub(crate) alive: bool,
    /// Is another one each time that it comes to life (measured: the only sign).
    pub(crate) id: u64,
    pub(crate) flags: u32,
    /// How often it is retained.
    pub(crate) retains: u32,
    pub(crate) own: OwnLanes,
    /// The contexts whose memory it reaches.
    pub(crate) peers: HashSet<Handle>,
    pub(crate) settings: Settings,
    /// The error that each of its calls answers. A primary context keeps it even over a reset
    /// (*manual*: the process must be started anew).
    pub(crate) sticky: Option<CUresult>,
    /// The call that made it, or brought it to life.
    pub(crate) made_by: Side,
}

impl Context {
    /// Makes a primary context that isn't alive.
    pub(crate) fn primary(handle: Handle, device: usize) -> Self {
        Self {
            handle,
            device,
            is_primary: true,
            alive: false,
            id: 0,
            flags: 0,
            retains: 0,
            own: OwnLanes::default(),
            peers: HashSet::new(),
            settings: Settings::default(),
            sticky: None,
            made_by: Side::new("cuDevicePrimaryCtxRetain", ""),
        }
    }

    /// Tells whether somebody has yet to let go of it.
    pub(crate) const fn is_held(&self) -> bool {
        if self.is_primary { self.retains > 0 } else { self.alive }
    }

    /// Returns what it is, in words.
    pub(crate) fn describe(&self) -> String {
        let Self { device, retains, .. } = self;
        if self.is_primary {
            format!("primary context of device {device}, retained {retains} times")
        } else {
            format!("context of device {device}")
        }
    }
}

impl State {
    /// Brings a context to life.
    pub(crate) fn revive(&mut self, handle: Handle) {
        self.last_context_id += 1;
        let id = self.last_context_id;
        let device = self.contexts.get(handle).map_or(0, |context| context.device);
        let legacy = self.lanes.add(handle, LaneKind::Legacy, |_| {
            format!("the legacy stream of context {id} (device {device})")
        });
        if let Some(context) = self.contexts.get_mut(handle) {
            context.alive = true;
            context.id = id;
            context.made_by = Side::new(call_site::function(), "");
            context.own = OwnLanes { legacy, ..OwnLanes::default() };
        }
    }

    /// Ends a context of which no work is queued: all that belongs to it goes. Pool memory stays:
    /// it is the device's (measured).
    pub(crate) fn end_context(&mut self, handle: Handle, call: &'static str) {
        let theirs: Vec<_> = self
            .registry
            .live()
            .filter(|memory| memory.context == handle && memory.kind != MemoryKind::Pool)
            .map(|memory| (memory.id, memory.base, memory.kind))
            .collect();
        for (id, base, kind) in theirs {
            if kind == MemoryKind::Imported {
                self.forget_import(base);
                continue;
            }
            self.registry.retire(id, Side::new(call, ""));
            self.release(id);
        }
        self.end_images(handle);
        self.end_modules(handle);
        self.registry.clear_graves();
        self.streams.remove_if(|stream| stream.context == handle);
        let slots: Vec<_> = self
            .events
            .values()
            .filter(|event| event.context == handle)
            .filter_map(|event| event.shared.as_ref().filter(|shared| shared.is_own))
            .map(|shared| shared.slot)
            .collect();
        for slot in slots {
            self.own_events.remove(slot);
        }
        self.events.remove_if(|event| event.context == handle);
        self.end_captures(handle);
        self.lanes.close_all(handle);
        if let Some(context) = self.contexts.get_mut(handle) {
            context.alive = false;
            context.own = OwnLanes::default();
            context.peers.clear();
            context.settings = Settings::default();
        }
        for context in self.contexts.values_mut() {
            context.peers.remove(&handle);
        }
    }

    /// Returns the context that a call names, null being the current one.
    pub(crate) fn named(&self, context: CUcontext) -> Result<&Context, CUresult> {
        if context.is_null() {
            return self.context();
        }
        match self.contexts.get(context.number()) {
            Some(context) if context.alive => Ok(context),
            Some(_) => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
            None if self.contexts.ended(context.number()).is_some() => {
                Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
            }
            None => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        }
    }

    /// Tells whether a context may be made current: one that is dead or destroyed may (measured).
    fn may_be_current(&self, context: CUcontext) -> Result<Handle, CUresult> {
        let handle = context.number();
        if self.contexts.get(handle).is_some() || self.contexts.ended(handle).is_some() {
            return Ok(handle);
        }
        Err(CUresult::CUDA_ERROR_INVALID_CONTEXT)
    }
}

fn create(
    mut session: Session,
    out: &Out<CUcontext>,
    flags: c_uint,
    device: CUdevice,
) -> Result<(), CUresult> {
    out.required()?;
    let device = session.device(device)?;
    session.struck.map_or(Ok(()), Err)?;
    let handle = session
        .contexts
        .insert_with(|handle| Context {
            is_primary: false,
            flags,
            ..Context::primary(handle, device)
        })
        .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    session.revive(handle);
    current::push(handle);
    out.write(CUcontext::from_number(handle));
    Ok(())
}

simulate! {
    /// Creates a context and makes it current.
    fn cuCtxCreate_v2(context: out CUcontext, flags: val c_uint, device: val CUdevice) |session| {
        create(session, &context, flags, device)
    }

    /// Creates a context and makes it current; execution affinity is not supported.
    fn cuCtxCreate_v3(
        context: out CUcontext, affinity: out CUexecAffinityParam, count: val c_int,
        flags: val c_uint, device: val CUdevice,
    ) |session| {
        if count != 0 || !affinity.is_null() {
            return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        create(session, &context, flags, device)
    }

    /// Creates a context and makes it current; parameters beyond flags are not supported.
    fn cuCtxCreate_v4(
        context: out CUcontext, parameters: out CUctxCreateParams, flags: val c_uint,
        device: val CUdevice,
    ) |session| {
        if !parameters.is_null() {
            let parameters = parameters.read()?;
            if parameters.numExecAffinityParams != 0 || !parameters.cigParams.is_null() {
                return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
            }
        }
        create(session, &context, flags, device)
    }

    /// Destroys a context, when its work is done, and takes it off the calling thread's stack.
    fn cuCtxDestroy_v2(context: val CUcontext) |session| {
        let handle = context.number();
        let found = session.named(context)?;
        if context.is_null() || found.is_primary {
            return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
        }
        let mut session = session.wait_for_context(handle)?;
        let call = session.call();
        session.end_context(handle, call);
        session.contexts.remove(handle);
        if current::get() == Some(handle) {
            current::pop();
        }
        Ok(())
    }

    /// Tells which context is current, alive or not (measured); null if none is.
    fn cuCtxGetCurrent(context: out CUcontext) |_session| {
        context.required()?;
        context.write(CUcontext::from_number(current::get().unwrap_or(0)));
        Ok(())
    }

    /// Makes a context current in the place of the one that is; null takes that one away.
    fn cuCtxSetCurrent(context: val CUcontext) |session| {
        if context.is_null() {
            current::set(None);
            return Ok(());
        }
        current::set(Some(session.may_be_current(context)?));
        Ok(())
    }

    /// Puts a context on the calling thread's stack.
    fn cuCtxPushCurrent_v2(context: val CUcontext) |session| {
        // Measured.
        if context.is_null() {
            return Err(INVALID_VALUE);
        }
        current::push(session.may_be_current(context)?);
        Ok(())
    }

    /// Takes the current context off the calling thread's stack.
    fn cuCtxPopCurrent_v2(context: out CUcontext) |_session| {
        let popped = current::pop().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        context.write(CUcontext::from_number(popped));
        Ok(())
    }

    /// Tells the current context's device, alive or not (measured).
    fn cuCtxGetDevice(device: out CUdevice) |session| {
        device.required()?;
        let handle = current::get().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        let gone = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
        let context = session.contexts.get(handle).ok_or(gone)?;
        device.write(CUdevice(c_int::try_from(context.device).unwrap_or(0)));
        Ok(())
    }

    /// Tells a context's id, which no other context of the process has or had (measured).
    fn cuCtxGetId(context: val CUcontext, id: out c_ulonglong) |session| {
        id.required()?;
        id.write(session.named(context)?.id);
        Ok(())
    }

    /// Tells the current context's flags, of which one is always set (measured).
    fn cuCtxGetFlags(flags: out c_uint) |session| {
        flags.required()?;
        flags.write(session.context()?.flags | CUctx_flags::CU_CTX_MAP_HOST.0);
        Ok(())
    }

    /// Tells a version of the interface; 201 for a context that isn't alive (measured).
    fn cuCtxGetApiVersion(context: val CUcontext, version: out c_uint) |session| {
        version.required()?;
        session.named(context).map_err(|_| CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        version.write(3020);
        Ok(())
    }

    /// Waits for all work of the current context.
    fn cuCtxSynchronize() |mut session| {
        let handle = session.context()?.handle;
        session.refuse_context_wait(handle)?;
        session.wait_for_context(handle)?;
        Ok(())
    }

    /// Tells the range of priorities, that of an H200 (measured).
    fn cuCtxGetStreamPriorityRange(least: out c_int, greatest: out c_int) |session| {
        session.context()?;
        least.write(0);
        greatest.write(-5);
        Ok(())
    }

}
