//! A kernel that runs, as its body sees it.

use std::ops::Deref;

use bytemuck::Pod;
use cuda_sys::{CUdeviceptr, CUresult};

use super::{Arguments, KernelError};
use crate::engine::kernel::Kernel;
use crate::engine::kernel::trace::Trace;
use crate::engine::state::State;

/// Is a kernel that runs: its [`Arguments`], and the memory that it may touch.
///
/// Memory is device memory, pinned host memory and the module's variables, by their addresses. An
/// element's `index` counts elements of its type from `address` on.
#[derive(Debug)]
pub struct Launch<'a> {
    pub(super) state: &'a mut State,
    pub(super) kernel: &'a Kernel,
    pub(super) trace: Trace,
    /// The first wrong access, whatever the body makes of it.
    pub(super) fault: Option<KernelError>,
}

impl Deref for Launch<'_> {
    type Target = Arguments;

    fn deref(&self) -> &Arguments {
        &self.kernel.arguments
    }
}

/// Is a thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The position of its block in the grid.
    pub block: [u32; 3],
    /// Its position in its block.
    pub thread: [u32; 3],
    size: [u32; 3],
}

impl Thread {
    /// Returns its position among all threads, along each axis.
    pub fn global(&self) -> [u64; 3] {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let of = |extents: &[u32; 3]| extents.get(axis).copied().map_or(0, u64::from);
            of(&self.block) * of(&self.size) + of(&self.thread)
        });
        [x, y, z]
    }
}

impl<'a> Launch<'a> {
    pub(crate) fn new(state: &'a mut State, kernel: &'a Kernel) -> Self {
        Self { state, kernel, trace: Trace::default(), fault: None }
    }

    /// Returns what was touched, and the first wrong access.
    pub(crate) fn finish(self) -> (Trace, Option<KernelError>) {
        (self.trace, self.fault)
    }

    /// Returns the address of a variable of the kernel's module.
    ///
    /// # Errors
    ///
    /// If the module has no such variable.
    pub fn variable(&self, name: &str) -> Result<CUdeviceptr, KernelError> {
        let found = self.state.modules.variable(self.kernel.module, name);
        let missing = || KernelError::new(format!("the module has no variable `{name}`"));
        found.map(|variable| CUdeviceptr(variable.address)).ok_or_else(missing)
    }

    /// Calls `each` for every block, the first axis running fastest, until an error.
    ///
    /// # Errors
    ///
    /// What `each` returns.
    pub fn for_each_block(
        &mut self,
        mut each: impl FnMut(&mut Self, [u32; 3]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let [columns, rows, slices] = self.grid();
        for z in 0..slices {
            for y in 0..rows {
                for x in 0..columns {
                    each(self, [x, y, z])?;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` for every thread, block after block, until an error.
    ///
    /// # Errors
    ///
    /// What `each` returns.
    pub fn for_each_thread(
        &mut self,
        mut each: impl FnMut(&mut Self, Thread) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let size = self.block();
        self.for_each_block(|launch, block| {
            let [columns, rows, slices] = size;
            for z in 0..slices {
                for y in 0..rows {
                    for x in 0..columns {
                        each(launch, Thread { block, thread: [x, y, z], size })?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Notes the first wrong access, and returns it to the body.
    pub(super) fn wrong(&mut self, code: CUresult, text: String) -> KernelError {
        let error = KernelError::of_access(code, text);
        self.fault.get_or_insert_with(|| error.clone());
        error
    }

    /// Reads an element.
    ///
    /// # Errors
    ///
    /// If it does not lie in memory that the device reaches, or is misaligned.
    pub fn read<T: Pod>(&mut self, address: CUdeviceptr, index: u64) -> Result<T, KernelError> {
        let mut value = [T::zeroed()];
        self.read_slice(address, index, &mut value)?;
        let [value] = value;
        Ok(value)
    }

    /// Writes an element.
    ///
    /// # Errors
    ///
    /// If it does not lie in memory that the device reaches and may write, or is misaligned.
    pub fn write<T: Pod>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        value: T,
    ) -> Result<(), KernelError> {
        self.write_slice(address, index, &[value])
    }
}
