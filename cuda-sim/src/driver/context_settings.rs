//! What contexts are set to, and what the whole of a context waits for. All answers are manual.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};

use cuda_sys::{
    CUcontext, CUctx_flags, CUdevice, CUdevice_attribute, CUevent, CUexecAffinityParam,
    CUexecAffinityType, CUfunc_cache, CUlimit, CUresult, CUsharedconfig,
};

use crate::driver::event::Record;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::current;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::lane::LaneKind;
use crate::engine::scheduler::Other;
use crate::engine::state::State;
use crate::engine::work::{ItemId, Work};
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

/// Is what a context is set to.
#[derive(Debug)]
pub(crate) struct Settings {
    limits: HashMap<u32, usize>,
    cache: CUfunc_cache,
    /// How often a context that isn't primary is attached.
    attached: u32,
    /// The lane that waits for what all later work waits for.
    awaiting: Option<LaneId>,
}

impl Default for Settings {
    fn default() -> Self {
        let cache = CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE;
        Self { limits: HashMap::new(), cache, attached: 1, awaiting: None }
    }
}

/// Returns a limit that was not set, as an H200 has it. Measured for the first three, and that what
/// is no limit at all answers 1.
fn default_limit(limit: CUlimit) -> Result<usize, CUresult> {
    Ok(match limit {
        CUlimit::CU_LIMIT_STACK_SIZE => 1024,
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => 8_650_752,
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => 8 << 20,
        CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => 2048,
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => 64,
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => 0,
        _ if CUlimit::CONSTANTS.iter().any(|&(_, known)| known == limit.0) => {
            return Err(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT);
        }
        _ => return Err(INVALID_VALUE),
    })
}

impl State {
    fn settings(&mut self) -> Result<&mut Settings, CUresult> {
        let handle = self.context()?.handle;
        let gone = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
        self.contexts.get_mut(handle).map(|context| &mut context.settings).ok_or(gone)
    }

    /// Returns what a lane that is added to a context begins behind.
    pub(crate) fn awaited_by(&self, context: Handle) -> Option<(ItemId, Clock)> {
        let lane = self.lanes.get(self.contexts.get(context)?.settings.awaiting?)?;
        Some((lane.last, lane.clock.clone()))
    }
}

/// Refuses flags of contexts that there are not, or not together (measured of 99).
pub(crate) fn check_flags(flags: c_uint) -> Answer {
    let schedule = flags & CUctx_flags::CU_CTX_SCHED_MASK.0;
    if flags > 0xff || ![0, 1, 2, 4].contains(&schedule) {
        return Err(INVALID_VALUE);
    }
    Ok(())
}

fn set_limit(mut session: Session, limit: CUlimit, value: usize) -> Answer {
    let device = session.context()?.device;
    default_limit(limit)?;
    let value = match limit {
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY if value > 128 => return Err(INVALID_VALUE),
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => {
            let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE;
            let most = session.device_attribute(most, device).unwrap_or(0);
            value.min(usize::try_from(most).unwrap_or(0))
        }
        _ => value,
    };
    session.settings()?.limits.insert(limit.0, value);
    Ok(())
}

/// Detaches from a context; the last destroys it.
fn detach(mut session: Session, context: CUcontext) -> Answer {
    let found = session.named(context)?;
    let (handle, is_primary) = (found.handle, found.is_primary);
    // Only the current one.
    if is_primary || current::get() != Some(handle) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    let settings = session.settings()?;
    settings.attached = settings.attached.saturating_sub(1);
    if settings.attached > 0 {
        return Ok(());
    }
    let mut session = session.wait_for_context(handle)?;
    let call = session.call();
    session.end_context(handle, call);
    session.contexts.remove(handle);
    current::pop();
    Ok(())
}

/// Returns an event that only this process has, and that is of a context if one is named.
fn own_event(
    session: &mut Session,
    event: CUevent,
    context: Option<Handle>,
) -> Result<Option<Record>, CUresult> {
    let found = session.event(event)?;
    if context.is_some_and(|context| found.context != context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if found.shared.is_some() {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(found.record.clone())
}

/// Records all that is queued in a context.
fn record(mut session: Session, context: CUcontext, event: CUevent) -> Answer {
    let handle = session.named(context)?.handle;
    own_event(&mut session, event, Some(handle))?;
    session.refuse_context_wait(handle)?;
    let call = session.call();
    let lanes: Vec<_> =
        session.lanes.of(handle).map(|(_, lane)| (lane.last, lane.clock.clone())).collect();
    // A lane of its own waits for all others.
    let own = session.lanes.add(handle, LaneKind::NonBlocking, |id| format!("record #{id}"));
    for (last, clock) in &lanes {
        let item = Some((*last, clock));
        session.enqueue_after(own, call, &[], Work::Nothing, Other { item, mark: None })?;
    }
    if let Some(event) = session.events.get_mut(event.number()) {
        event.record = None;
    }
    let item = session.enqueue(own, call, &[], Work::Record(event.number(), None))?;
    let clock = session.lanes.get(own).map(|lane| lane.clock.clone()).unwrap_or_default();
    let at = (!session.queue.is_pending(item)).then(std::time::Instant::now);
    if let Some(event) = session.events.get_mut(event.number()) {
        event.record = Some(Record { item, clock, at });
    }
    session.lanes.close(own);
    Ok(())
}

/// Lets all later work of a context wait for what an event recorded.
fn wait(mut session: Session, context: CUcontext, event: CUevent) -> Answer {
    let handle = session.named(context)?.handle;
    let Some(record) = own_event(&mut session, event, None)? else { return Ok(()) };
    session.refuse_context_wait(handle)?;
    let call = session.call();
    if session.awaited_by(handle).is_none() {
        // Streams that are created later begin behind it.
        let label = |id| format!("what context work waits for (#{id})");
        let lane = session.lanes.add(handle, LaneKind::NonBlocking, label);
        if let Some(context) = session.contexts.get_mut(handle) {
            context.settings.awaiting = Some(lane);
        }
    }
    let lanes: Vec<_> = session.lanes.of(handle).map(|(id, _)| id).collect();
    for lane in lanes {
        let item = Some((record.item, &record.clock));
        session.enqueue_after(lane, call, &[], Work::Nothing, Other { item, mark: None })?;
    }
    Ok(())
}

simulate! {
    /// Tells a limit of the current context.
    fn cuCtxGetLimit(value: out usize, limit: val CUlimit) |mut session| {
        value.required()?;
        let default = default_limit(limit);
        let set = session.settings()?.limits.get(&limit.0).copied();
        value.write(set.map_or(default, Ok)?);
        Ok(())
    }

    /// Sets a limit of the current context.
    fn cuCtxSetLimit(limit: val CUlimit, value: val usize) |session| {
        set_limit(session, limit, value)
    }

    /// Tells which kind of cache the current context prefers.
    fn cuCtxGetCacheConfig(config: out CUfunc_cache) |mut session| {
        config.required()?;
        config.write(session.settings()?.cache);
        Ok(())
    }

    /// Sets which kind of cache the current context prefers.
    fn cuCtxSetCacheConfig(config: val CUfunc_cache) |mut session| {
        let settings = session.settings()?;
        if config > CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL {
            return Err(INVALID_VALUE);
        }
        settings.cache = config;
        Ok(())
    }

    /// Tells how wide banks of shared memory are: four bytes, on all newer devices.
    fn cuCtxGetSharedMemConfig(config: out CUsharedconfig) |session| {
        config.required()?;
        session.context()?;
        config.write(CUsharedconfig::CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
        Ok(())
    }

    /// Asks for a width of banks, which newer devices don't change.
    fn cuCtxSetSharedMemConfig(config: val CUsharedconfig) |session| {
        session.context()?;
        if config > CUsharedconfig::CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE {
            return Err(INVALID_VALUE);
        }
        Ok(())
    }

    /// Sets the flags of the current context.
    fn cuCtxSetFlags(flags: val c_uint) |mut session| {
        let handle = session.context()?.handle;
        check_flags(flags)?;
        if let Some(context) = session.contexts.get_mut(handle) {
            context.flags = flags;
        }
        Ok(())
    }

    /// Refuses: contexts are not bound to a number of multiprocessors.
    fn cuCtxGetExecAffinity(affinity: out CUexecAffinityParam, _kind: val CUexecAffinityType)
    |session| {
        affinity.required()?;
        session.context()?;
        Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
    }

    /// Lets no line of the cache persist, which changes nothing here.
    fn cuCtxResetPersistingL2Cache() |session| {
        session.context()?;
        Ok(())
    }

    /// Attaches to the current context, which then is destroyed by as many more calls.
    fn cuCtxAttach(context: out CUcontext, flags: val c_uint) |mut session| {
        context.required()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let handle = session.context()?.handle;
        session.settings()?.attached += 1;
        context.write(CUcontext::from_number(handle));
        Ok(())
    }

    /// Detaches from the current context; the last destroys it.
    fn cuCtxDetach(context: val CUcontext) |session| {
        detach(session, context)
    }

    /// Records in an event all that is queued in a context.
    fn cuCtxRecordEvent(context: val CUcontext, event: val CUevent) |session| {
        record(session, context, event)
    }

    /// Lets all later work of a context wait for what an event recorded.
    fn cuCtxWaitEvent(context: val CUcontext, event: val CUevent) |session| {
        wait(session, context, event)
    }

    /// Tells the device of a context.
    fn cuCtxGetDevice_v2(device: out CUdevice, context: val CUcontext) |session| {
        device.required()?;
        let index = session.named(context)?.device;
        device.write(CUdevice(c_int::try_from(index).unwrap_or(0)));
        Ok(())
    }

    /// Waits for all work of a context.
    fn cuCtxSynchronize_v2(context: val CUcontext) |session| {
        let handle = session.named(context)?.handle;
        session.wait_for_context(handle)?;
        Ok(())
    }

    /// Starts a profiler, if one were there.
    fn cuProfilerStart() |session| {
        session.context()?;
        Ok(())
    }

    /// Stops a profiler, if one were there.
    fn cuProfilerStop() |session| {
        session.context()?;
        Ok(())
    }
}
