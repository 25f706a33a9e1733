//! Physical memory passed between processes as file descriptors. Answers are *manual* where not said
//! otherwise.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_ulonglong, c_void};
use std::os::fd::IntoRawFd;

use cuda_sys::{CUmemAllocationHandleType, CUmemGenericAllocationHandle, CUresult};
use rustix::io::fcntl_dupfd_cloexec;

use crate::config::Feature;
use crate::driver::descriptor;
use crate::engine::virtual_memory::physical::FILE_NAME;
use crate::entry::{INVALID_VALUE, Out, simulate};
use crate::report::Side;

simulate! {
    /// Makes a file descriptor of physical memory; memory that was not made for that has none. The
    /// memory lives as long as it is open.
    fn cuMemExportToShareableHandle(
        out: out c_void, handle: val CUmemGenericAllocationHandle,
        kind: val CUmemAllocationHandleType, flags: val c_ulonglong,
    ) |mut session| {
        out.required()?;
        descriptor::check_kind(kind, flags)?;
        let id = session.physical_of(handle)?;
        if session.physical_memory(id).is_none_or(|physical| physical.handle_types & kind.0 == 0) {
            return Err(INVALID_VALUE);
        }
        let file = session.own_file(id)?;
        let no = |_| CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        let number: c_int = fcntl_dupfd_cloexec(file, 0).map_err(no)?.into_raw_fd();
        let made_by = Side::new(session.call(), "");
        session.descriptors.note(number, "physical memory", made_by);
        Out::of_attribute(out.pointer()).write(number);
        Ok(())
    }

    /// Makes a handle of a file descriptor, which stays the caller's. Measured: a number that is no open
    /// descriptor answers 999.
    fn cuMemImportFromShareableHandle(
        handle: out CUmemGenericAllocationHandle, descriptor: val *mut c_void,
        kind: val CUmemAllocationHandleType,
    ) |mut session| {
        handle.required()?;
        descriptor::check_kind(kind, 0)?;
        if !descriptor::is_open(descriptor) {
            return Err(CUresult::CUDA_ERROR_UNKNOWN);
        }
        let (file, device) = descriptor::open(descriptor, FILE_NAME)?;
        let physical = device.parse().ok();
        let device = session.devices.iter().position(|&device| Some(device) == physical);
        let device = device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        session.needs(device, Feature::VirtualMemory)?;
        session.needs(device, Feature::FileDescriptors)?;
        let call = session.call();
        let made = session.import_physical(call, device, file)?;
        if let Some(number) = descriptor::number(descriptor) {
            session.descriptors.note(number, "physical memory", Side::new(call, ""));
        }
        handle.write(CUmemGenericAllocationHandle(made));
        Ok(())
    }
}
