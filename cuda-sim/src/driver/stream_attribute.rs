//! Attributes of streams, their devices, and functions that are told how a stream fared. All answers
//! are manual.
//!
//! Unsafe, because a callback is a function of the program's, called with the program's pointer.

#![expect(unsafe_code, reason = "a callback is called as its program said")]
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use cuda_sys::{
    CUcontext, CUdevice, CUgreenCtx, CUhostFn, CUresult, CUstream, CUstreamAttrID,
    CUstreamAttrValue, CUstreamCallback,
};

use crate::driver::host_function;
use crate::driver::unions::{StreamAttribute, stream_attribute, write_stream_attribute};
use crate::engine::clock::LaneId;
use crate::engine::handle::RawHandle;
use crate::engine::state::State;
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

impl State {
    /// Returns an attribute of a stream, its default if it was not set.
    fn stream_attribute(
        &mut self,
        lane: LaneId,
        stream: CUstream,
        attribute: CUstreamAttrID,
    ) -> Result<StreamAttribute, CUresult> {
        if attribute == cuda_sys::CU_STREAM_ATTRIBUTE_PRIORITY {
            return self
                .properties(stream)
                .map(|(_, priority)| StreamAttribute::Priority(priority));
        }
        let default = StreamAttribute::default_of(attribute).ok_or(INVALID_VALUE)?;
        let set = self.stream_attributes.get(&lane).and_then(|all| all.get(&attribute.0));
        Ok(set.copied().unwrap_or(default))
    }
}

/// Holds the attributes that were set, by lane and number.
pub(crate) type StreamAttributes = HashMap<LaneId, HashMap<u32, StreamAttribute>>;

fn set(
    session: &mut Session,
    stream: CUstream,
    lane: LaneId,
    attribute: CUstreamAttrID,
    value: StreamAttribute,
) -> Answer {
    if !value.is_allowed() {
        return Err(INVALID_VALUE);
    }
    if let StreamAttribute::Priority(priority) = value {
        return session.set_priority(stream, priority);
    }
    session.stream_attributes.entry(lane).or_default().insert(attribute.0, value);
    Ok(())
}

/// Is a callback that waits for its stream.
struct Callback {
    function: unsafe extern "system" fn(CUstream, CUresult, *mut c_void),
    stream: u64,
    data: usize,
}

/// Holds the callbacks that wait, by a number that is given to the host function that calls them.
static CALLBACKS: Mutex<(usize, Option<HashMap<usize, Callback>>)> = Mutex::new((0, None));

/// Calls the callback of a number, once.
unsafe extern "system" fn call_back(number: *mut c_void) {
    let mut all = CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let callback = all.1.as_mut().and_then(|all| all.remove(&number.addr()));
    drop(all);
    let Some(Callback { function, stream, data }) = callback else { return };
    let data = std::ptr::with_exposed_provenance_mut(data);
    // SAFETY: the program gave them to `cuStreamAddCallback`, to be called so, at this time.
    unsafe { function(CUstream::from_number(stream), CUresult::CUDA_SUCCESS, data) };
}

/// Keeps a callback, and returns its number.
fn keep(callback: Callback) -> usize {
    let mut all = CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let (last, callbacks) = &mut *all;
    *last += 1;
    callbacks.get_or_insert_with(HashMap::new).insert(*last, callback);
    *last
}

simulate! {
    /// Tells an attribute of a stream.
    fn cuStreamGetAttribute(
        stream: val CUstream, attribute: val CUstreamAttrID, value: out CUstreamAttrValue,
    ) with cuStreamGetAttribute_ptsz |mut session| {
        value.required()?;
        let lane = session.lane(stream)?;
        let found = session.stream_attribute(lane, stream, attribute)?;
        value.write(write_stream_attribute(found));
        Ok(())
    }

    /// Sets an attribute of a stream, which changes nothing here.
    fn cuStreamSetAttribute(
        stream: val CUstream, attribute: val CUstreamAttrID, value: into CUstreamAttrValue,
    ) with cuStreamSetAttribute_ptsz |mut session| {
        let lane = session.lane(stream)?;
        let value = stream_attribute(attribute, &value.read()?)?;
        set(&mut session, stream, lane, attribute, value)
    }

    /// Sets all attributes of a stream as another has them, which must be of the same context.
    fn cuStreamCopyAttributes(to: val CUstream, from: val CUstream)
    with cuStreamCopyAttributes_ptsz |mut session| {
        let (target, source) = (session.lane(to)?, session.lane(from)?);
        let context = |lane| session.lanes.get(lane).map(|lane| lane.context);
        if context(target) != context(source) {
            return Err(INVALID_VALUE);
        }
        let copied = session.stream_attributes.get(&source).cloned().unwrap_or_default();
        session.stream_attributes.insert(target, copied);
        let priority = session.properties(from)?.1;
        if to.number() > 2 { session.set_priority(to, priority) } else { Ok(()) }
    }

    /// Tells the context of a stream; none is a green one.
    fn cuStreamGetCtx_v2(stream: val CUstream, context: out CUcontext, green: out CUgreenCtx)
    with cuStreamGetCtx_v2_ptsz |mut session| {
        context.required()?;
        green.required()?;
        let lane = session.lane(stream)?;
        let handle = session.lanes.get(lane).map_or(0, |lane| lane.context);
        context.write(CUcontext::from_number(handle));
        green.write(std::ptr::null_mut());
        Ok(())
    }

    /// Tells the device of a stream.
    fn cuStreamGetDevice(stream: val CUstream, device: out CUdevice)
    with cuStreamGetDevice_ptsz |mut session| {
        device.required()?;
        let lane = session.lane(stream)?;
        let context = session.lanes.get(lane).map_or(0, |lane| lane.context);
        let index = session.contexts.get(context).map_or(0, |context| context.device);
        device.write(CUdevice(c_int::try_from(index).unwrap_or(0)));
        Ok(())
    }

    /// Queues a function that is told how the stream fared. It runs as a host function does.
    fn cuStreamAddCallback(
        stream: val CUstream, callback: val CUstreamCallback, data: val *mut c_void,
        flags: val c_uint,
    ) with cuStreamAddCallback_ptsz |session| {
        let function = callback.ok_or(INVALID_VALUE)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let data = data.expose_provenance();
        let number = keep(Callback { function, stream: stream.number(), data });
        let number = std::ptr::without_provenance_mut(number);
        host_function::submit(session, stream, Some(call_back), number)
    }

    /// Queues a host function; how the stream waits for it changes nothing here.
    fn cuLaunchHostFunc_v2(
        stream: val CUstream, function: val CUhostFn, data: val *mut c_void, mode: val c_uint,
    ) with cuLaunchHostFunc_v2_ptsz |session| {
        if mode > 1 {
            return Err(INVALID_VALUE);
        }
        host_function::submit(session, stream, function, data)
    }
}
