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
        if self.graphs.objects.get(handle).is_none() && self.graphs.objects.is_stale(handle) {
            self.stale("object", "user object");
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
        let new = UserObject { destructor, own: count, of_graphs: 0, made_by };
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

    /// Removes references of the program.
    fn cuUserObjectRelease(object: val CUuserObject, count: val c_uint) |mut session| {
        if session.object(object, count)?.own < count {
            return Err(INVALID_VALUE);
        }
        session.release_object(object.number(), count, false);
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

    /// Removes references of a graph.
    fn cuGraphReleaseUserObject(graph: val CUgraph, object: val CUuserObject, count: val c_uint)
    |mut session| {
        session.object(object, count)?;
        let objects = &mut session.graph(graph.number())?.objects;
        let held = objects.get_mut(&object.number()).ok_or(INVALID_VALUE)?;
        *held = held.checked_sub(count).ok_or(INVALID_VALUE)?;
        objects.retain(|_, held| *held > 0);
        session.release_object(object.number(), count, true);
        Ok(())
    }
}
