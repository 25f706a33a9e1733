//! Access to other devices' memory, and copies that name two contexts. Answers are *manual* where not
//! said otherwise.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint};

use cuda_sys::{
    CUDA_MEMCPY3D_PEER, CUatomicOperation, CUcontext, CUdevice, CUdevice_P2PAttribute, CUdeviceptr,
    CUresult, CUstream,
};

use crate::call_site;
use crate::driver::array::row;
use crate::driver::box_copy::peer_ends;
use crate::engine::binary::VariableSpace;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::copy::{Order, Target, copy, copy_on};
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::operand::Operand;
use crate::engine::raw::Extent;
use crate::engine::registry::{BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::work::{Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, In, Out, Session, simulate};
use crate::report::{Finding, FindingKind, Side};

impl State {
    /// Reports work on memory of another context that it has no access to. Copies have: what a
    /// device cannot reach goes through the host.
    pub(crate) fn check_homes(
        &mut self,
        lane: LaneId,
        call: &'static str,
        touches: &[Touch],
        work: &Work,
    ) {
        let Some(lane) = self.lanes.get(lane) else { return };
        let (context, stream) = (lane.context, lane.label.clone());
        for touch in touches {
            let Some(memory) = self.registry.get(touch.memory) else { continue };
            let is_owned = matches!(memory.kind, MemoryKind::Device | MemoryKind::Array);
            if !is_owned || memory.context == context {
                continue;
            }
            let device = self.contexts.get(context).map(|context| context.device);
            let is_other_device = device != Some(memory.device);
            let names_contexts = call.contains("Peer");
            let allowed = match work {
                Work::Copy { .. } | Work::Batch(_) => is_other_device || names_contexts,
                _ => is_other_device && self.can_access(context, touch.memory),
            };
            if allowed {
                continue;
            }
            let access = Some((touch.kind, touch.area));
            let stream = Some(stream.clone());
            let finding = Finding {
                kind: FindingKind::WrongContext,
                earlier: Some(memory.made_by.clone()),
                later: Side { stream, access, ..Side::new(call, touch.operand) },
                subject: "memory of one context is used on a stream of another".to_owned(),
            };
            self.findings.add(finding);
        }
    }

    /// Tells whether work of a context may touch memory by its address: that of its own device,
    /// that of the host, and that of devices it has access to.
    ///
    /// Copies don't ask: what a device cannot reach goes through the host.
    pub(crate) fn can_access(&self, context: Handle, memory: BufferId) -> bool {
        let (Some(context), Some(memory)) = (self.contexts.get(context), self.registry.get(memory))
        else {
            return false;
        };
        match memory.kind {
            MemoryKind::Host | MemoryKind::Registered | MemoryKind::Managed => true,
            // The flag that opening asks for says so.
            MemoryKind::Imported => true,
            MemoryKind::Variable(VariableSpace::Managed) => true,
            MemoryKind::Variable(_) => {
                memory.device == context.device || context.peers.contains(&memory.context)
            }
            // A graph's memory is of no pool.
            MemoryKind::Pool => {
                memory.device == context.device || self.pool_access(memory.id, context.device) != 0
            }
            MemoryKind::Virtual => {
                self.access_at(context.device, memory.base).is_ok_and(|flags| flags != 0)
            }
            MemoryKind::Device | MemoryKind::Array => {
                memory.device == context.device || context.peers.contains(&memory.context)
            }
            MemoryKind::Physical => false,
        }
    }

    /// Returns a context that a call names; none if it is the current one.
    fn peer(&self, peer: CUcontext) -> Result<Option<(Handle, usize)>, CUresult> {
        let current = self.context()?.handle;
        match self.contexts.get(peer.number()) {
            Some(found) if found.alive && found.handle != current => {
                Ok(Some((found.handle, found.device)))
            }
            // Measured: access is refused, or was not there to take.
            Some(found) if found.alive => Ok(None),
            _ => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        }
    }

    /// Returns the device of a context that a copy names.
    fn device_of(&self, context: CUcontext) -> Result<usize, CUresult> {
        match self.contexts.get(context.number()) {
            Some(found) if found.alive => Ok(found.device),
            _ => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        }
    }

    /// Reports memory that isn't the device's of the context that is named with it. The address alone
    /// says whose it is, so that the copy goes well (measured).
    fn check_home(
        &mut self,
        operand: &'static str,
        address: CUdeviceptr,
        context: CUcontext,
    ) -> Answer {
        let device = self.device_of(context)?;
        let Some(memory) = self.registry.find(address.0) else { return Ok(()) };
        if memory.kind.is_device() && memory.device != device {
            let finding = Finding {
                kind: FindingKind::WrongContext,
                earlier: Some(memory.made_by.clone()),
                later: Side::new(call_site::function(), operand),
                subject: "the memory is of another device than the context that is named with it"
                    .to_owned(),
            };
            self.findings.add(finding);
        }
        Ok(())
    }

    /// Refuses work of a lane on memory of another device that the lane's context has no access to
    /// (measured of fills).
    pub(crate) fn check_reach(&self, lane: LaneId, touches: &[Touch]) -> Answer {
        let Some(context) = self.lanes.get(lane).map(|lane| lane.context) else { return Ok(()) };
        let is_reached = |touch: &Touch| self.can_access(context, touch.memory);
        if touches.iter().all(is_reached) { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn pair(&self, from: CUdevice, to: CUdevice) -> Result<[usize; 2], CUresult> {
        let [from, to] = [self.device(from)?, self.device(to)?];
        if from == to {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        Ok([self.physical(from), self.physical(to)])
    }
}

/// Returns the lanes of contexts.
fn lanes_of(session: &Session, contexts: &[Handle]) -> Vec<LaneId> {
    let lanes = contexts.iter().flat_map(|&context| session.lanes.of(context));
    lanes.map(|(id, _)| id).collect()
}

/// Copies after all work that is queued in both contexts and the current one, and before all that
/// is queued in them later.
fn copy_between(
    mut session: Session,
    contexts: [CUcontext; 2],
    to: Target,
    from: Target,
    extent: Extent,
) -> Answer {
    let mut all = contexts.map(RawHandle::number).to_vec();
    all.push(session.context()?.handle);
    all.sort_unstable();
    all.dedup();
    for &context in &all {
        session = session.drain_context(context)?;
    }
    let mut clock = Clock::default();
    let lanes = lanes_of(&session, &all);
    for &lane in &lanes {
        if let Some(lane) = session.lanes.get(lane) {
            clock.join(&lane.clock);
        }
    }
    let own = session.default_lane()?;
    if let Some(lane) = session.lanes.get_mut(own) {
        lane.clock.join(&clock);
    }
    let mut session = copy_on(session, Order::Synchronous, to, from, extent)?;
    let Some(lane) = session.lanes.get(own) else { return Ok(()) };
    let (last, clock) = (lane.last, lane.clock.clone());
    for lane in lanes {
        if let Some(lane) = session.lanes.get_mut(lane) {
            lane.clock.join(&clock);
            lane.last = lane.last.max(last);
        }
    }
    Ok(())
}

/// Makes both ends of a copy of bytes from one context's memory into another's.
fn ends(
    session: &mut Session,
    [to, from]: [CUdeviceptr; 2],
    [to_context, from_context]: [CUcontext; 2],
    bytes: usize,
) -> Result<[Target; 2], CUresult> {
    session.context()?;
    session.device_of(to_context)?;
    session.device_of(from_context)?;
    if bytes != 0 {
        session.check_home("dstDevice", to, to_context)?;
        session.check_home("srcDevice", from, from_context)?;
    }
    let to = Operand::linear("dstDevice", to.0, bytes, true);
    let from = Operand::linear("srcDevice", from.0, bytes, true);
    Ok([to.into(), from.into()])
}

/// Tells of each operation whether a link does it, by a function of its number.
fn tell_atomics(
    out: &Out<c_uint>,
    operations: &In<CUatomicOperation>,
    count: c_uint,
    capability: impl Fn(CUatomicOperation) -> c_uint,
) -> Answer {
    out.required()?;
    if count == 0 {
        return Err(INVALID_VALUE);
    }
    for index in 0..usize::try_from(count).unwrap_or(0) {
        let operation = operations.read_at(index)?;
        if !CUatomicOperation::CONSTANTS.iter().any(|&(_, known)| known == operation.0) {
            return Err(INVALID_VALUE);
        }
        out.write_at(index, capability(operation));
    }
    Ok(())
}

/// Returns what devices do for each other: whole words of 32 and 64 bits, read back.
fn between_devices(operation: CUatomicOperation) -> c_uint {
    use CUatomicOperation as O;
    use cuda_sys::CUatomicOperationCapability as C;
    let words = C::CU_ATOMIC_CAPABILITY_SCALAR_32 | C::CU_ATOMIC_CAPABILITY_SCALAR_64;
    match operation {
        O::CU_ATOMIC_OPERATION_FLOAT_ADD
        | O::CU_ATOMIC_OPERATION_FLOAT_MIN
        | O::CU_ATOMIC_OPERATION_FLOAT_MAX => words.0,
        _ => (words | C::CU_ATOMIC_CAPABILITY_UNSIGNED | C::CU_ATOMIC_CAPABILITY_SIGNED).0,
    }
}

simulate! {
    /// Lets the current context reach all memory of another device's context.
    fn cuCtxEnablePeerAccess(peer: val CUcontext, flags: val c_uint) |mut session| {
        let unsupported = CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        let (peer, device) = session.peer(peer)?.ok_or(unsupported)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let current = session.context()?;
        let (handle, own) = (current.handle, current.device);
        let has_unified_addresses = session.has_unified_addresses()?;
        let [own, device] = [session.physical(own), session.physical(device)];
        if !has_unified_addresses || !session.config.can_reach(own, device) {
            return Err(unsupported);
        }
        let gone = CUresult::CUDA_ERROR_INVALID_CONTEXT;
        let context = session.contexts.get_mut(handle).ok_or(gone)?;
        if !context.peers.insert(peer) {
            return Err(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        }
        Ok(())
    }

    /// Takes that access away.
    fn cuCtxDisablePeerAccess(peer: val CUcontext) |mut session| {
        let not_enabled = CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
        let (peer, _) = session.peer(peer)?.ok_or(not_enabled)?;
        let handle = session.context()?.handle;
        let gone = CUresult::CUDA_ERROR_INVALID_CONTEXT;
        let context = session.contexts.get_mut(handle).ok_or(gone)?;
        if !context.peers.remove(&peer) {
            return Err(not_enabled);
        }
        Ok(())
    }

    /// Tells what a device does with another's memory.
    fn cuDeviceGetP2PAttribute(
        value: out c_int, attribute: val CUdevice_P2PAttribute, from: val CUdevice,
        to: val CUdevice,
    ) |session| {
        use CUdevice_P2PAttribute as A;
        value.required()?;
        let [from, to] = session.pair(from, to)?;
        let reaches = c_int::from(session.config.can_reach(from, to));
        value.write(match attribute {
            // The best rank is 0.
            A::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => 0,
            A::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
            | A::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
            | A::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => reaches,
            A::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
            _ => return Err(INVALID_VALUE),
        });
        Ok(())
    }

    /// Tells what atomic operations a device does on another's memory.
    fn cuDeviceGetP2PAtomicCapabilities(
        capabilities: out c_uint, operations: into CUatomicOperation, count: val c_uint,
        from: val CUdevice, to: val CUdevice,
    ) |session| {
        let [from, to] = session.pair(from, to)?;
        let reaches = session.config.can_reach(from, to);
        tell_atomics(&capabilities, &operations, count, |operation| {
            if reaches { between_devices(operation) } else { 0 }
        })
    }

    /// Tells what atomic operations a device does on the host's memory: none over this bus.
    fn cuDeviceGetHostAtomicCapabilities(
        capabilities: out c_uint, operations: into CUatomicOperation, count: val c_uint,
        device: val CUdevice,
    ) |session| {
        session.device(device)?;
        tell_atomics(&capabilities, &operations, count, |_| 0)
    }

    /// Copies between contexts, after all that is queued in them and before all that comes.
    fn cuMemcpyPeer(
        to: val CUdeviceptr, to_context: val CUcontext, from: val CUdeviceptr,
        from_context: val CUcontext, bytes: val usize,
    ) with cuMemcpyPeer_ptds |mut session| {
        let contexts = [to_context, from_context];
        let [to, from] = ends(&mut session, [to, from], contexts, bytes)?;
        copy_between(session, contexts, to, from, row(bytes))
    }

    /// Queues a copy between contexts.
    fn cuMemcpyPeerAsync(
        to: val CUdeviceptr, to_context: val CUcontext, from: val CUdeviceptr,
        from_context: val CUcontext, bytes: val usize, stream: val CUstream,
    ) with cuMemcpyPeerAsync_ptsz |mut session| {
        let [to, from] = ends(&mut session, [to, from], [to_context, from_context], bytes)?;
        copy(session, Order::On(stream), to, from, row(bytes))
    }

    /// Copies slices between contexts, after all that is queued in them and before all that comes.
    fn cuMemcpy3DPeer(descriptor: into CUDA_MEMCPY3D_PEER) with cuMemcpy3DPeer_ptds |mut session| {
        session.context()?;
        let given = descriptor.read()?;
        let Some([to, from]) = checked(&mut session, &given)? else { return Ok(()) };
        let contexts = [given.dstContext, given.srcContext];
        copy_between(session, contexts, to, from, extent_of(&given))
    }

    /// Queues a copy of slices between contexts.
    fn cuMemcpy3DPeerAsync(descriptor: into CUDA_MEMCPY3D_PEER, stream: val CUstream)
    with cuMemcpy3DPeerAsync_ptsz |mut session| {
        session.context()?;
        let given = descriptor.read()?;
        let Some([to, from]) = checked(&mut session, &given)? else { return Ok(()) };
        copy(session, Order::On(stream), to, from, extent_of(&given))
    }
}

const fn extent_of(copy: &CUDA_MEMCPY3D_PEER) -> Extent {
    Extent { width: copy.WidthInBytes, height: copy.Height, depth: copy.Depth }
}

/// Makes both ends of a copy of slices, none if there is nothing to copy.
fn checked(
    session: &mut Session,
    copy: &CUDA_MEMCPY3D_PEER,
) -> Result<Option<[Target; 2]>, CUresult> {
    session.device_of(copy.dstContext)?;
    session.device_of(copy.srcContext)?;
    if copy.srcLOD != 0 || copy.dstLOD != 0 {
        return Err(INVALID_VALUE);
    }
    let extent = extent_of(copy);
    if extent.is_empty() {
        return Ok(None);
    }
    let is_device = |kind| kind == cuda_sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
    if is_device(copy.dstMemoryType) {
        session.check_home("dst", copy.dstDevice, copy.dstContext)?;
    }
    if is_device(copy.srcMemoryType) {
        session.check_home("src", copy.srcDevice, copy.srcContext)?;
    }
    Ok(Some(peer_ends(copy, extent)?))
}
