//! User objects.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_uint, c_void};

use cuda_sys::{CUgraph, CUhostFn, CUresult, CUuserObject};

use crate::driver::host_function::HostFunction;
use crate::engine::graph::object::UserObject;
use crate::engine::handle::RawHandle;
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, simulate};
use crate::report::Side;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which a destructor that synchronises nothing must say.
const NO_DESTRUCTOR_SYNC: u32 = 1;

/// `CU_GRAPH_USER_OBJECT_MOVE`.
const MOVE: u32 = 1;

/// The greatest number of references (manual).
const MOST: u32 = i32::MAX.unsigned_abs();

impl State {
    /// Returns a user object, of which a call names that many references.
    fn object(&mut self, object: CUuserObject, count: u32) -> Result<&mut UserObject, CUresult> {
        let handle = object.number();
        if let Some(ended) = self.graphs.objects.ended(handle) {
            self.stale("object", "the user object was destroyed; a real driver crashes", ended);
        }
        let found = self.graphs.objects.get_mut(handle).ok_or(INVALID_VALUE)?;
        if count == 0 || count > MOST { Err(INVALID_VALUE) } else { Ok(found) }
    }
}

simulate! {
    /// Makes a user object, whose destructor is called when nothing refers to it.
    fn cuUserObjectCreate(
        object: out CUuserObject, data: val *mut c_void, destroy: val CUhostFn, count: val c_uint,
        flags: val c_uint,
    ) |mut session| {
        object.required()?;
        if flags != NO_DESTRUCTOR_SYNC || count == 0 || count > MOST {
            return Err(INVALID_VALUE);
        }
        let destructor = HostFunction::new(destroy, data)?;
        let sim = session.sim;
        session.callbacks.start(sim)?;
        let made_by = Side::new(session.call(), "");
        let new = UserObject { destructor, own: count, of_graphs: 0, made_by, released_by: None };
        let out_of_memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let handle = session.graphs.objects.insert_with(|_| new).ok_or(out_of_memory)?;
        object.write(CUuserObject::from_number(handle));
        Ok(())
    }

    /// Adds references of the program.
    fn cuUserObjectRetain(object: val CUuserObject, count: val c_uint) |mut session| {
        let found = session.object(object, count)?;
        found.own = found.own.checked_add(count).filter(|&own| own <= MOST).ok_or(INVALID_VALUE)?;
        Ok(())
    }

    /// Removes references of the program. That it had fewer is reported; those of graphs go then, and
    /// with the last one the object (measured).
    fn cuUserObjectRelease(object: val CUuserObject, count: val c_uint) |mut session| {
        let own = session.object(object, count)?.own;
        if own < count {
            session.blame_release(object.number(), "object", own);
        }
        session.release_object(object.number(), own.min(count), false);
        session.release_object(object.number(), count.saturating_sub(own), true);
        Ok(())
    }

    /// Adds references of a graph, or lets it have the program's.
    fn cuGraphRetainUserObject(
        graph: val CUgraph, object: val CUuserObject, count: val c_uint, flags: val c_uint,
    ) |mut session| {
        session.graph(graph.number())?;
        let own = session.object(object, count)?.own;
        if flags & !MOVE != 0 || flags == MOVE && own < count {
            return Err(INVALID_VALUE);
        }
        session.graphs.refer(graph.number(), object.number(), count);
        if flags == MOVE {
            session.release_object(object.number(), count, false);
        }
        Ok(())
    }

    /// Removes references of a graph. That it had fewer, or that the object is gone, is reported, and
    /// goes well (measured).
    fn cuGraphReleaseUserObject(graph: val CUgraph, object: val CUuserObject, count: val c_uint)
    |mut session| {
        let handle = object.number();
        let is_gone = session.graphs.objects.ended(handle).is_some();
        let checked = session.object(object, count).map(|_| ());
        if !is_gone || count == 0 {
            checked?;
        }
        let objects = &mut session.graph(graph.number())?.objects;
        let held = objects.remove(&handle).unwrap_or(0);
        if held > count {
            objects.insert(handle, held - count);
        }
        if held < count && !is_gone {
            session.blame_release(handle, "object", held);
        }
        session.release_object(handle, held.min(count), true);
        Ok(())
    }
}
