//! Memory and events shared with other processes by legacy handles. All answers are measured.
//!
//! How a process finds another's memory is in `directory`, where the state of events is in `board`,
//! what a handle holds in `handle`.
#![expect(non_snake_case, reason = "functions have the names of C")]

pub(crate) mod accesses;
pub(crate) mod board;
pub(crate) mod directory;
pub(crate) mod handle;

use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use cuda_sys::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CUresult};

use crate::config::Feature;
use crate::driver::event::Event;
use crate::engine::address_space::pins::Pin;
use crate::engine::handle::RawHandle;
use crate::engine::mapping::BLOCK;
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;
use board::{Board, Shared};
use directory::{Entry, Foreign};
use handle::{EventHandle, LENGTH, MemoryHandle, start_mark};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

/// Is the identity of another process's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SegmentKey {
    process: u32,
    start: u16,
    block: usize,
    generation: u32,
}

/// Is memory of another process.
#[derive(Debug)]
struct Import {
    memory: BufferId,
    opens: u32,
    segment: SegmentKey,
    /// Tells the exporter that it is mapped.
    _pin: Pin,
}

/// Holds what is mapped of other processes.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// Which address a handle's bytes opened.
    addresses: HashMap<[u8; LENGTH], u64>,
    by_address: HashMap<u64, Import>,
    /// The memory of this process that others may open.
    exported: HashSet<BufferId>,
    /// Where each segment is mapped, and how many imports lie in it.
    segments: HashMap<SegmentKey, (u64, u32)>,
    /// The boards of other processes' events, by process and its start.
    boards: HashMap<(u32, u16), Arc<Board>>,
}

impl Imports {
    /// Tells whether other processes may have opened memory of this one.
    pub(crate) fn is_exported(&self, memory: BufferId) -> bool {
        self.exported.contains(&memory)
    }

    /// Returns the process whose memory was opened at an address.
    pub(crate) fn process_of(&self, address: u64) -> Option<u32> {
        self.by_address.get(&address).map(|import| import.segment.process)
    }
}

impl State {
    /// Makes the handle of the allocation that an address lies in.
    fn export(&self, address: u64) -> Result<MemoryHandle, CUresult> {
        let memory = self.registry.find(address);
        // An imported, a pool's, a host's: none of them can be exported so.
        let memory = memory.filter(|memory| memory.kind == MemoryKind::Device);
        let memory = memory.ok_or(INVALID_VALUE)?;
        let (block, offset, segment) = self.space.segment(memory.base).ok_or(INVALID_VALUE)?;
        let process = std::process::id();
        Ok(MemoryHandle {
            process,
            start: start_mark(process).ok_or(CUresult::CUDA_ERROR_OPERATING_SYSTEM)?,
            block,
            generation: segment.generation,
            offset,
            size: memory.size,
        })
    }

    /// Maps the memory of a handle, or finds it mapped.
    fn import(&mut self, call: &'static str, bytes: [u8; LENGTH]) -> Result<u64, CUresult> {
        let handle = MemoryHandle::from_bytes(&bytes)?;
        // The same bytes are the same memory as long as they are open, whatever became of it.
        if let Some(&address) = self.imports.addresses.get(&bytes)
            && let Some(import) = self.imports.by_address.get_mut(&address)
        {
            import.opens += 1;
            return Ok(address);
        }
        must_be_another(handle.process, handle.start)?;
        let foreign = Foreign::find(handle.process).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        // Of the generation the handle says nothing that is checked: it opens what is there now.
        let pinned = foreign.pin(handle.block, handle.offset, handle.size);
        let (entry, pin) = pinned.ok_or(INVALID_VALUE)?;
        let end = handle.offset.checked_add(handle.size).ok_or(INVALID_VALUE)?;
        if handle.size == 0 || end > entry.blocks.saturating_mul(BLOCK) as u64 {
            return Err(INVALID_VALUE);
        }
        let context = self.context()?;
        let (device, context) = (context.device, context.handle);
        let segment = SegmentKey {
            process: handle.process,
            start: handle.start,
            block: handle.block,
            generation: entry.generation,
        };
        let start = match self.imports.segments.get(&segment) {
            Some(&(start, _)) => start,
            None => {
                let Entry { at, blocks, generation } = entry;
                self.space.import(device, foreign.memory(), at, blocks, generation)?
            }
        };
        self.imports.segments.entry(segment).or_insert((start, 0));
        let address = start + handle.offset;
        self.imports.addresses.insert(bytes, address);
        if let Some(import) = self.imports.by_address.get_mut(&address) {
            import.opens += 1;
            return Ok(address);
        }
        if let Some((_, users)) = self.imports.segments.get_mut(&segment) {
            *users += 1;
        }
        let memory = self.registry.add(Allocation {
            id: 0,
            base: address,
            size: handle.size,
            kind: MemoryKind::Imported,
            device,
            context,
            flags: 0,
            made_by: Side::new(call, ""),
            history: Vec::new(),
        });
        if self.config.reports {
            self.between.begin(handle.process);
        }
        self.imports.by_address.insert(address, Import { memory, opens: 1, segment, _pin: pin });
        Ok(address)
    }

    /// Unmaps an import however often it is open.
    pub(crate) fn forget_import(&mut self, address: u64) {
        let Some(import) = self.imports.by_address.remove(&address) else { return };
        self.imports.addresses.retain(|_, &mut opened| opened != address);
        self.lose_waits(import.memory);
        self.between.forget(import.memory);
        self.registry.retire(import.memory, Side::new("cuIpcCloseMemHandle", "dptr"));
        self.registry.remove(import.memory);
        if let Some((start, users)) = self.imports.segments.get_mut(&import.segment) {
            *users -= 1;
            if *users == 0 {
                let start = *start;
                self.imports.segments.remove(&import.segment);
                self.space.unmap_import(start);
            }
        }
    }
}

impl State {
    /// Finds the state of another process's event.
    fn import_event(&mut self, bytes: [u8; LENGTH]) -> Result<Shared, CUresult> {
        let handle = EventHandle::from_bytes(&bytes)?;
        must_be_another(handle.process, handle.start)?;
        let gone = CUresult::CUDA_ERROR_INVALID_HANDLE;
        let key = (handle.process, handle.start);
        let board = match self.imports.boards.get(&key) {
            Some(board) => Arc::clone(board),
            None => {
                let board = Arc::new(Board::find(handle.process).ok_or(gone)?);
                self.imports.boards.insert(key, Arc::clone(&board));
                board
            }
        };
        Ok(Shared { board, slot: handle.slot, is_own: false })
    }
}

/// Refuses a process that is gone, though another may have its number, with 400, and this one with
/// 201.
fn must_be_another(process: u32, start: u16) -> Result<(), CUresult> {
    if start_mark(process) != Some(start) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if process == std::process::id() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    Ok(())
}

/// Turns a handle's bytes into the driver's type for them.
fn to_chars(bytes: [u8; LENGTH]) -> [c_char; LENGTH] {
    bytes.map(|byte| c_char::from_ne_bytes([byte]))
}

/// Turns the driver's type for a handle's bytes into bytes.
fn to_bytes(chars: [c_char; LENGTH]) -> [u8; LENGTH] {
    chars.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()))
}

impl State {
    /// Refuses where the current device shares nothing with other processes so.
    fn check_sharing(&self) -> Result<(), CUresult> {
        let device = self.context()?.device;
        let has = self.has(device, Feature::Ipc);
        if has { Ok(()) } else { Err(CUresult::CUDA_ERROR_NOT_SUPPORTED) }
    }
}

fn open(
    mut session: Session,
    address: &Out<CUdeviceptr>,
    handle: &CUipcMemHandle,
) -> Result<(), CUresult> {
    let bytes = to_bytes(handle.reserved);
    let call = session.call();
    address.write(CUdeviceptr(session.import(call, bytes)?));
    Ok(())
}

simulate! {
    /// Maps another process's memory, as older calls do: without the flag too.
    fn cuIpcOpenMemHandle(
        address: out CUdeviceptr, handle: opaque CUipcMemHandle, flags: val c_uint,
    ) |session| {
        address.required()?;
        session.check_sharing()?;
        if flags & !LAZY_ENABLE_PEER_ACCESS != 0 {
            return Err(INVALID_VALUE);
        }
        open(session, &address, &handle.0)
    }

    /// Makes a handle of an allocation. An address inside of it gives the same handle.
    fn cuIpcGetMemHandle(handle: out CUipcMemHandle, address: val CUdeviceptr) |mut session| {
        handle.required()?;
        session.check_sharing()?;
        let bytes = session.export(address.0)?.to_bytes();
        let memory = session.registry.find(address.0).map(|memory| memory.id);
        if let Some(memory) = memory
            && session.imports.exported.insert(memory)
        {
            session.tell_of_history(memory);
        }
        handle.write(CUipcMemHandle { reserved: to_chars(bytes) });
        Ok(())
    }

    /// Maps another process's memory.
    fn cuIpcOpenMemHandle_v2(
        address: out CUdeviceptr, handle: opaque CUipcMemHandle, flags: val c_uint,
    ) |session| {
        address.required()?;
        session.check_sharing()?;
        if flags != LAZY_ENABLE_PEER_ACCESS {
            return Err(INVALID_VALUE);
        }
        open(session, &address, &handle.0)
    }

    /// Closes what was opened as often as it was, when all work of the context is done.
    fn cuIpcCloseMemHandle(address: val CUdeviceptr) |session| {
        session.check_sharing()?;
        let context = session.context()?.handle;
        let is_open = session.imports.by_address.contains_key(&address.0);
        let mut session = session.drain_context(context)?;
        let import = session.imports.by_address.get_mut(&address.0);
        let Some(import) = import.filter(|_| is_open) else { return Err(INVALID_VALUE) };
        if import.opens > 1 {
            import.opens -= 1;
        } else {
            session.forget_import(address.0);
        }
        Ok(())
    }
    /// Makes a handle of an event; 400 of one that isn't for other processes, or is another's.
    fn cuIpcGetEventHandle(handle: out CUipcEventHandle, event: val CUevent) |mut session| {
        handle.required()?;
        session.check_sharing()?;
        let shared = session.event(event)?.shared.clone().filter(|shared| shared.is_own);
        let shared = shared.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        let process = std::process::id();
        let start = start_mark(process).ok_or(CUresult::CUDA_ERROR_OPERATING_SYSTEM)?;
        let bytes = EventHandle { process, start, slot: shared.slot }.to_bytes();
        handle.write(CUipcEventHandle { reserved: to_chars(bytes) });
        Ok(())
    }

    /// Opens another process's event; 201 in the same process.
    fn cuIpcOpenEventHandle(event: out CUevent, handle: opaque CUipcEventHandle) |mut session| {
        event.required()?;
        session.check_sharing()?;
        let context = session.context()?.handle;
        let shared = session.import_event(to_bytes(handle.0.reserved))?;
        let made_by = Side::new(session.call(), "");
        let handle = session
            .events
            .insert_with(|handle| Event::imported(handle, context, shared, made_by))
            .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        event.write(CUevent::from_number(handle));
        Ok(())
    }
}
