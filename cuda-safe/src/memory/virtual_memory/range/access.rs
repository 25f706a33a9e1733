//! Which devices may use a range, and its elements for those.

use cuda_sys::{CUdeviceptr, CUmemAccessDesc, CUmemLocation};

use super::AddressRange;
use crate::call;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result, Rule};
use crate::memory::Element;
use crate::memory::slice::{OnDevice, Slice, SliceMut};
use crate::memory::virtual_memory::{DeviceAccess, check_reach};
use crate::shim::{Area, Memory};

impl<T: Element> AddressRange<T> {
    /// Says what a device may do with the memory that is mapped, and that will be. The context's own
    /// device always reads and writes it; others may do nothing at first.
    ///
    /// Waits until nothing uses the memory any more.
    ///
    /// Driver: [`cuMemSetAccess`](crate::call::mem_set_access).
    ///
    /// # Errors
    ///
    /// [`Rule::Access`] if it takes the memory from the context's own device, [`Rule::Able`] if the
    /// device does not reach that of the memory; else as the driver answers.
    pub fn set_access(&mut self, device: Device, access: DeviceAccess) -> Result<()> {
        const CALL: &str = "AddressRange::set_access";
        let full = DeviceAccess::ReadWrite;
        if device == self.context.device() && access != full {
            let (need, have) = (full.word(), access.word());
            return Err(Error::refused(CALL, "access", Rule::Access, need, have));
        }
        if access != DeviceAccess::Denied {
            for part in &self.parts {
                check_reach(CALL, device, part.memory.device())?;
            }
        }
        if self.mapped > 0 {
            self.allocation.wait_for_all(Area::bytes(0, self.mapped))?;
            self.grant(self.base, self.mapped, &[(device, access)])?;
        }
        match self.access.iter_mut().find(|(known, _)| *known == device) {
            Some((_, known)) => *known = access,
            None => self.access.push((device, access)),
        }
        Ok(())
    }

    /// Returns what a device may do with the memory.
    pub fn access(&self, device: Device) -> DeviceAccess {
        let known = self.access.iter().find(|(known, _)| *known == device);
        known.map_or(DeviceAccess::Denied, |(_, access)| *access)
    }

    /// Lends all elements for reading, for calls and kernels of another context.
    ///
    /// # Errors
    ///
    /// [`Rule::Access`] if its device may not read them.
    pub fn in_context<'a>(&'a self, context: &'a Context) -> Result<Slice<'a, T, OnDevice>> {
        self.check("AddressRange::in_context", context, DeviceAccess::Read)?;
        Ok(Slice::of(self.region().with_home(context)))
    }

    /// Lends all elements for writing, for calls and kernels of another context.
    ///
    /// # Errors
    ///
    /// [`Rule::Access`] if its device may not write them.
    pub fn in_context_mut<'a>(
        &'a mut self,
        context: &'a Context,
    ) -> Result<SliceMut<'a, T, OnDevice>> {
        self.check("AddressRange::in_context_mut", context, DeviceAccess::ReadWrite)?;
        Ok(SliceMut::of(self.region().with_home(context)))
    }

    fn check(&self, call: &'static str, context: &Context, need: DeviceAccess) -> Result<()> {
        let have = self.access(context.device());
        if have < need {
            return Err(Error::refused(call, "context", Rule::Access, need.word(), have.word()));
        }
        Ok(())
    }

    /// Has the driver give devices their access to memory that nothing uses.
    pub(super) fn grant(
        &self,
        start: CUdeviceptr,
        len: usize,
        access: &[(Device, DeviceAccess)],
    ) -> Result<()> {
        let said = access.iter().map(|(device, access)| CUmemAccessDesc {
            location: CUmemLocation::device(device.ordinal()),
            flags: access.flags(),
        });
        let said: Vec<_> = said.collect();
        #[expect(unsafe_code, reason = "vouches for addresses that it has mapped")]
        // SAFETY: the range is mapped so, and nothing uses it: it is new, or was waited for.
        unsafe {
            call::mem_set_access(&self.context, start, len, &said)
        }
    }
}
