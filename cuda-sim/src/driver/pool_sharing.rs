//! Pools and their memory passed between processes: a file descriptor for the pool, 64 bytes for each
//! pointer. Answers are *manual* where not said otherwise.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uchar, c_ulonglong, c_void};
use std::os::fd::{AsFd, IntoRawFd};

use cuda_sys::{
    CUdeviceptr, CUmemAllocationHandleType, CUmemPoolPtrExportData, CUmemoryPool, CUresult,
};
use rustix::io::fcntl_dupfd_cloexec;

use crate::config::Feature;
use crate::driver::descriptor;
use crate::engine::handle::RawHandle;
use crate::engine::pool::Pool;
use crate::engine::pool::sharing::{FILE_NAME, Imported, SharedPointer};
use crate::entry::{INVALID_VALUE, Out, simulate};
use crate::report::Side;

simulate! {
    /// Makes a file descriptor of a pool; one that was not made for that has none.
    fn cuMemPoolExportToShareableHandle(
        out: out c_void, pool: val CUmemoryPool, kind: val CUmemAllocationHandleType,
        flags: val c_ulonglong,
    ) |mut session| {
        out.required()?;
        descriptor::check_kind(kind, flags)?;
        let its = session.pool(pool)?;
        if its.handle_types & kind.0 == 0 {
            return Err(INVALID_VALUE);
        }
        its.is_exported = true;
        let handle = its.handle;
        let imported = session.pools.table.get(handle).and_then(|pool| pool.imported.as_ref());
        let own = session.space.pool_files.get(&handle);
        let file = match (imported, own) {
            (Some(imported), _) => imported.file.as_fd(),
            (None, Some(own)) => own.as_fd(),
            (None, None) => return Err(INVALID_VALUE),
        };
        let no = |_| CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        let number: c_int = fcntl_dupfd_cloexec(file, 0).map_err(no)?.into_raw_fd();
        let made_by = Side::new(session.call(), "");
        session.descriptors.note(number, "a memory pool", made_by);
        Out::of_attribute(out.pointer()).write(number);
        Ok(())
    }

    /// Makes a pool of another process's file descriptor, which stays the caller's.
    fn cuMemPoolImportFromShareableHandle(
        out: out CUmemoryPool, descriptor: val *mut c_void, kind: val CUmemAllocationHandleType,
        flags: val c_ulonglong,
    ) |mut session| {
        out.required()?;
        descriptor::check_kind(kind, flags)?;
        let (file, _) = descriptor::open(descriptor, FILE_NAME)?;
        let imported = Imported::new(file).ok_or(INVALID_VALUE)?;
        let physical = imported.device();
        let device = session.devices.iter().position(|&device| Some(device) == physical);
        let device = device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        session.needs(device, Feature::FileDescriptors)?;
        let made_by = Side::new(session.call(), "");
        let made = session.pools.table.insert_with(|handle| Pool {
            handle_types: kind.0,
            imported: Some(imported),
            ..Pool::new(handle, device, made_by)
        });
        let handle = made.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        if let Some(number) = descriptor::number(descriptor) {
            let given_to = Side::new(session.call(), "");
            session.descriptors.note(number, "a memory pool", given_to);
        }
        out.write(CUmemoryPool::from_number(handle));
        Ok(())
    }

    /// Tells a pointer of a pool's memory to other processes; 1 until the pool itself was exported, and
    /// for an address inside of an allocation (both measured).
    fn cuMemPoolExportPointer(
        out: out CUmemPoolPtrExportData, address: val CUdeviceptr,
    ) |session| {
        out.required()?;
        let bytes = session.export_pointer(address.0)?.to_bytes();
        out.write(CUmemPoolPtrExportData { reserved: bytes.map(c_uchar::from) });
        Ok(())
    }

    /// Maps the memory that a pointer of another process tells. Imported again, it is the same
    /// pointer, which one free ends.
    fn cuMemPoolImportPointer(
        out: out CUdeviceptr, pool: val CUmemoryPool, told: out CUmemPoolPtrExportData,
    ) |mut session| {
        out.required()?;
        let pointer = SharedPointer::from_bytes(&told.read()?.reserved).ok_or(INVALID_VALUE)?;
        let call = session.call();
        let handle = session.pool(pool)?.handle;
        let address = session.import_pointer(call, handle, pointer)?;
        out.write(CUdeviceptr(address));
        Ok(())
    }
}
