//! A kernel's accesses to memory, each checked before it is made.

use std::ops::Range;

use bytemuck::Pod;
use cuda_sys::{CUdeviceptr, CUresult};

use super::{KernelError, Launch};
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::binary::VariableSpace;
use crate::engine::execute;
use crate::engine::registry::{Allocation, MemoryKind};

/// `CU_MEMHOSTREGISTER_READ_ONLY`.
const READ_ONLY: u32 = 8;

impl Launch<'_> {
    /// Reads elements in a row.
    ///
    /// # Errors
    ///
    /// If one does not lie in memory that the device reaches, or they are misaligned.
    pub fn read_slice<T: Pod>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        values: &mut [T],
    ) -> Result<(), KernelError> {
        let bytes = self.locate::<T>(AccessKind::Read, address, index, values.len())?;
        execute::kernel_reads(bytes, bytemuck::cast_slice_mut(values));
        Ok(())
    }

    /// Writes elements in a row.
    ///
    /// # Errors
    ///
    /// If one does not lie in memory that the device reaches and may write, or they are misaligned.
    pub fn write_slice<T: Pod>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        values: &[T],
    ) -> Result<(), KernelError> {
        let bytes = self.locate::<T>(AccessKind::Write, address, index, values.len())?;
        execute::kernel_writes(bytes, bytemuck::cast_slice(values));
        Ok(())
    }

    /// Checks an access, notes it, and returns where in this process its bytes lie.
    pub(super) fn locate<T>(
        &mut self,
        kind: AccessKind,
        address: CUdeviceptr,
        index: u64,
        count: usize,
    ) -> Result<Range<usize>, KernelError> {
        let size = size_of::<T>() as u64;
        let start = index.checked_mul(size).and_then(|offset| address.0.checked_add(offset));
        let length = size.checked_mul(count as u64);
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        let Some((start, end)) = start.zip(end) else {
            let text = format!("element {index} from {:#x} on has no address", address.0);
            return Err(self.illegal(kind, address.0, text));
        };
        // An address that only the device has for memory of the host.
        let (start, length) = (self.state.registry.canonical(start), end - start);
        let end = start.saturating_add(length);
        if start == end {
            return Ok(0..0);
        }
        if !start.is_multiple_of(align_of::<T>() as u64) {
            let (verb, needs) = (verb(kind), align_of::<T>());
            let subject = self.subject(address.0);
            let text = format!("{subject} {verb} at {start:#x}, which is no multiple of {needs}");
            return Err(self.wrong(CUresult::CUDA_ERROR_MISALIGNED_ADDRESS, text));
        }
        let Some(found) = self.state.registry.resident(start) else {
            return Err(self.nowhere(kind, address.0, start, end));
        };
        let (memory, base) = (found.id, found.base);
        if !self.state.holds(found, start, end - start) {
            let text = past_the_end(start, end, found.size, base);
            return Err(self.illegal(kind, address.0, text));
        }
        if let Some(reason) = self.forbids(found, kind) {
            return Err(self.illegal(kind, address.0, format!("{start:#x}, {reason}")));
        }
        if found.kind == MemoryKind::Virtual {
            for (memory, part) in self.state.parts(memory, &AccessBox::linear(start, end - start)) {
                self.trace.note(memory, kind, part.base, part.end());
            }
        } else {
            self.trace.note(memory, kind, start, end);
        }
        let second = self.state.protection.second(start);
        let at = second.or_else(|| self.state.space.in_this_process(start));
        let at = at.ok_or_else(|| KernelError::new("an address of another process"))?;
        let length = usize::try_from(end - start).unwrap_or(0);
        Ok(at..at + length)
    }

    /// Says why the device may not touch memory, if it may not.
    fn forbids(&self, memory: &Allocation, kind: AccessKind) -> Option<&'static str> {
        // Memory of a pool that is freed behind the kernel has left its pool.
        let live = self.state.registry.at(memory.base).is_some_and(|live| live.id == memory.id);
        let has_left = memory.kind == MemoryKind::Pool && !live;
        if !has_left && !self.state.can_access(self.kernel.context, memory.id) {
            return Some("which is another device's memory, without access to it");
        }
        let is_constant = memory.kind == MemoryKind::Variable(VariableSpace::Constant);
        let read_only = memory.kind == MemoryKind::Registered && memory.flags & READ_ONLY != 0;
        match kind {
            AccessKind::Read => None,
            _ if is_constant => Some("which is constant memory"),
            _ if read_only => Some("which was registered as read-only"),
            _ => None,
        }
    }

    /// Says that an access lies in no allocation, and behind which, if it began in one.
    fn nowhere(&mut self, kind: AccessKind, address: u64, start: u64, end: u64) -> KernelError {
        let registry = &self.state.registry;
        let text = match registry.resident(address) {
            Some(found) => past_the_end(start, end, found.size, found.base),
            None if registry.grave(start).is_some() => {
                format!("{start:#x}, which is in memory that was freed")
            }
            None => format!("{start:#x}, which is in no allocation"),
        };
        self.illegal(kind, address, text)
    }

    fn illegal(&mut self, kind: AccessKind, address: u64, text: String) -> KernelError {
        let subject = self.subject(address);
        let text = format!("{subject} {} {text}", verb(kind));
        self.wrong(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, text)
    }

    /// Names the kernel, and the parameter through which it reached an address.
    fn subject(&self, address: u64) -> String {
        let name = self.name();
        match self.parameter_of(address) {
            Some(index) => format!("kernel {name}, through parameter {index},"),
            None => format!("kernel {name}"),
        }
    }
}

fn past_the_end(start: u64, end: u64, size: u64, base: u64) -> String {
    format!("{} bytes at {start:#x}, past the {size} bytes at {base:#x}", end - start)
}

const fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
    }
}
