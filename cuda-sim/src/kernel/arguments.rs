//! What a launch was given: its shape and its parameters.

use std::sync::Arc;

use bytemuck::Pod;
use cuda_sys::CUdeviceptr;

use super::KernelError;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::binary::Entry;

/// Is what a launch was given: its shape and its parameters.
#[derive(Clone, Debug)]
pub struct Arguments {
    pub(crate) entry: Arc<Entry>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    /// Bytes of shared memory that the launch asked for.
    pub(crate) dynamic_shared: u32,
    /// The block of parameters, laid out as the image says.
    pub(crate) bytes: Arc<[u8]>,
}

impl Arguments {
    /// Returns the kernel's name, as the image has it.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Returns how many blocks the grid has, along each axis.
    pub const fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Returns how many threads a block has, along each axis.
    pub const fn block(&self) -> [u32; 3] {
        self.block
    }

    /// Returns how many blocks a cluster has, along each axis; one if there are no clusters.
    pub const fn cluster(&self) -> [u32; 3] {
        self.cluster
    }

    /// Returns how many bytes of shared memory each block has that the launch asked for.
    pub const fn dynamic_shared_bytes(&self) -> u32 {
        self.dynamic_shared
    }

    /// Returns how many threads there are in all.
    pub fn threads(&self) -> u64 {
        let all = self.grid.iter().chain(&self.block);
        all.fold(1, |product, &extent| product.saturating_mul(extent.into()))
    }

    /// Returns how many parameters there are.
    pub fn parameter_count(&self) -> usize {
        self.entry.parameters.len()
    }

    /// Returns the bytes of a parameter.
    ///
    /// # Errors
    ///
    /// If the kernel has fewer parameters.
    pub fn parameter_bytes(&self, index: usize) -> Result<&[u8], KernelError> {
        let parameter = self.entry.parameters.get(index);
        let bytes = parameter.and_then(|each| self.bytes.get(each.offset..)?.get(..each.size));
        bytes.ok_or_else(|| {
            let (name, count) = (self.name(), self.parameter_count());
            KernelError::new(format!("kernel {name} has {count} parameters, none at {index}"))
        })
    }

    /// Returns a parameter.
    ///
    /// # Errors
    ///
    /// If the kernel has fewer parameters, or the image says another size than the type has.
    pub fn parameter<T: Pod>(&self, index: usize) -> Result<T, KernelError> {
        let bytes = self.parameter_bytes(index)?;
        bytemuck::try_pod_read_unaligned(bytes).map_err(|_| {
            let (name, has, ty) = (self.name(), bytes.len(), std::any::type_name::<T>());
            let needs = size_of::<T>();
            KernelError::new(format!(
                "parameter {index} of kernel {name} has {has} bytes, and {ty} has {needs}"
            ))
        })
    }

    /// Returns a parameter that is an address.
    ///
    /// # Errors
    ///
    /// If the kernel has fewer parameters, or the parameter is not 8 bytes long.
    pub fn pointer(&self, index: usize) -> Result<CUdeviceptr, KernelError> {
        self.parameter(index).map(CUdeviceptr)
    }

    /// Declares that bytes from where a parameter points to are read, see [`Body::accesses`].
    ///
    /// [`Body::accesses`]: super::Body::accesses
    ///
    /// # Errors
    ///
    /// If the parameter is no address.
    pub fn reads(&self, index: usize, bytes: u64) -> Result<Access, KernelError> {
        let area = AccessBox::linear(self.pointer(index)?.0, bytes);
        Ok(Access { kind: AccessKind::Read, parameter: index, area })
    }

    /// Declares that bytes from where a parameter points to are written, and perhaps read, see
    /// [`Body::accesses`].
    ///
    /// [`Body::accesses`]: super::Body::accesses
    ///
    /// # Errors
    ///
    /// If the parameter is no address.
    pub fn writes(&self, index: usize, bytes: u64) -> Result<Access, KernelError> {
        Ok(Access { kind: AccessKind::Write, ..self.reads(index, bytes)? })
    }

    /// Returns the parameter through which an address was reached: the one that points to it, or
    /// not far before it.
    pub(crate) fn parameter_of(&self, address: u64) -> Option<usize> {
        let near = address.saturating_sub(REACH)..=address;
        let pointers = (0..self.parameter_count()).filter_map(|index| {
            let value = self.pointer(index).ok()?.0;
            near.contains(&value).then_some((value, usize::MAX - index))
        });
        pointers.max().map(|(_, index)| usize::MAX - index)
    }
}

/// How far behind a pointer an address still counts as reached through it.
const REACH: u64 = 1 << 32;

/// Is what a kernel declares to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether it is read or written. What is written may be read too.
    pub kind: AccessKind,
    /// Through which parameter it is reached.
    pub parameter: usize,
    /// The bytes.
    pub area: AccessBox,
}
