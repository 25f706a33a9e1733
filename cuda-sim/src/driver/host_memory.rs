//! Host memory that the device reaches: allocated or registered.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_uint, c_void};

use cuda_sys::{CUdeviceptr, CUresult};

use crate::config::Feature;
use crate::driver::memory::free_now;
use crate::engine::mapping;
use crate::engine::registry::{Allocation, MemoryKind};
use crate::entry::{INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// `CU_MEMHOSTALLOC_DEVICEMAP`, and the same of registration.
const DEVICEMAP: u32 = 2;

/// `CU_MEMHOSTREGISTER_READ_ONLY`.
const READ_ONLY: u32 = 8;

/// Returns what is left to the system when host memory is freed.
pub(crate) fn unmap(base: u64, size: u64) {
    if let (Ok(base), Ok(size)) = (usize::try_from(base), usize::try_from(size)) {
        // It fails for no range that was mapped.
        let _ = mapping::unmap_host(base, size);
    }
}

fn add(
    session: &mut Session,
    base: u64,
    bytes: usize,
    kind: MemoryKind,
    flags: u32,
) -> Result<(), CUresult> {
    let call = session.call();
    let context = session.context()?;
    let (device, context) = (context.device, context.handle);
    let id = session.registry.add(Allocation {
        id: 0,
        base,
        size: bytes as u64,
        kind,
        device,
        context,
        flags,
        made_by: Side::new(call, ""),
        history: Vec::new(),
    });
    let is_alike = session.has(device, Feature::UnifiedAddressing)
        && (kind == MemoryKind::Host
            || session.has(device, Feature::HostPointerForRegisteredMemory));
    if !is_alike {
        // Without them an address of its own stands for the device's.
        let alias = mapping::reserve(bytes).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        match alias {
            Ok(alias) => session.registry.add_alias(id, alias as u64, bytes as u64),
            Err(error) => {
                session.registry.remove(id);
                return Err(error);
            }
        }
    }
    Ok(())
}

fn allocate(
    mut session: Session,
    out: &Out<*mut c_void>,
    bytes: usize,
    flags: c_uint,
) -> Result<(), CUresult> {
    out.required()?;
    session.context()?;
    // Measured.
    if flags > 7 {
        return Err(INVALID_VALUE);
    }
    // Measured: no bytes are at null.
    if bytes == 0 {
        out.write(std::ptr::null_mut());
        return Ok(());
    }
    session.host_has_room(bytes as u64)?;
    let address = mapping::map_host(bytes).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let added = add(&mut session, address as u64, bytes, MemoryKind::Host, flags);
    added.inspect_err(|_| unmap(address as u64, bytes as u64))?;
    if session.config.protect_pages {
        session.protection.add(address as u64, bytes);
    }
    out.write(std::ptr::with_exposed_provenance_mut(address));
    Ok(())
}

/// Tells whether a range of this process may be read, or written too, as the system lists it.
fn is_accessible(base: u64, end: u64, write: bool) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    let mut reached = base;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let Some((start, stop)) = range.split_once('-') else { continue };
        let hex = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        let (start, stop) = (hex(start), hex(stop));
        if stop <= reached {
            continue;
        }
        if start > reached || !access.starts_with('r') || write && access.get(1..2) != Some("w") {
            return false;
        }
        reached = stop;
        if reached >= end {
            return true;
        }
    }
    false
}

simulate! {
    /// Allocates host memory.
    fn cuMemHostAlloc(address: out *mut c_void, bytes: val usize, flags: val c_uint) |session| {
        allocate(session, &address, bytes, flags)
    }

    /// Allocates host memory.
    fn cuMemAllocHost_v2(address: out *mut c_void, bytes: val usize) |session| {
        allocate(session, &address, bytes, 0)
    }

    /// Frees host memory when all work of the context is done (measured). Null is nothing.
    fn cuMemFreeHost(address: val *mut c_void) |mut session| {
        session.context()?;
        if address.is_null() {
            return Ok(());
        }
        let call = session.call();
        let memory = session.find_to_free(call, "p", address.addr() as u64, |kind| {
            kind == MemoryKind::Host
        })?;
        free_now(session, memory, "p")
    }

    /// Returns the device's address of host memory: the same, unless the device lacks what makes it
    /// so; then memory must have been made for it (*manual*).
    fn cuMemHostGetDevicePointer_v2(
        device: out CUdeviceptr, host: val *mut c_void, flags: val c_uint,
    ) |session| {
        device.required()?;
        session.context()?;
        let address = host.addr() as u64;
        let found = session.registry.find(address).filter(|memory| memory.kind.is_host());
        let found = found.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let is_mapped = session.has_unified_addresses()? || found.flags & DEVICEMAP != 0;
        if !is_mapped {
            return Err(INVALID_VALUE);
        }
        let alias = session.registry.alias(found.id);
        let base = alias.unwrap_or(found.base);
        device.write(CUdeviceptr(base + (address - found.base)));
        Ok(())
    }

    /// Tells the flags with which host memory was allocated or registered, and that it is the device's
    /// too (measured).
    fn cuMemHostGetFlags(flags: out c_uint, host: val *mut c_void) |session| {
        flags.required()?;
        session.context()?;
        let found = session.registry.find(host.addr() as u64);
        let memory = found.filter(|memory| memory.kind.is_host()).ok_or(INVALID_VALUE)?;
        let mapped = if session.has_unified_addresses()? { DEVICEMAP } else { 0 };
        flags.write(memory.flags | mapped);
        Ok(())
    }

    /// Registers host memory. Answers are measured: 1 for no bytes and for what may not be written
    /// unless the flag says so, 712 where a byte is registered already.
    fn cuMemHostRegister_v2(host: val *mut c_void, bytes: val usize, flags: val c_uint) |mut session| {
        let device = session.context()?.device;
        if !session.has(device, Feature::HostRegister) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let base = host.addr() as u64;
        let end = base.checked_add(bytes as u64).ok_or(INVALID_VALUE)?;
        if host.is_null() || bytes == 0 || flags > 15 {
            return Err(INVALID_VALUE);
        }
        if session.registry.overlaps(base, bytes as u64) {
            return Err(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        }
        if session.space.contains(base) || !is_accessible(base, end, flags & READ_ONLY == 0) {
            return Err(INVALID_VALUE);
        }
        host.expose_provenance();
        add(&mut session, base, bytes, MemoryKind::Registered, flags)
    }

    /// Ends a registration when all work of the context is done (measured); 713 for memory that is
    /// not registered, 1 inside of some that is (measured).
    fn cuMemHostUnregister(host: val *mut c_void) |session| {
        session.context()?;
        let address = host.addr() as u64;
        let memory = match session.registry.find(address) {
            Some(memory) if memory.kind == MemoryKind::Registered && memory.base == address => {
                memory.id
            }
            Some(memory) if memory.kind.is_host() => return Err(INVALID_VALUE),
            _ => return Err(CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
        };
        free_now(session, memory, "p")
    }
}
