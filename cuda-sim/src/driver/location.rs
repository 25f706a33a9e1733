//! Where memory is, and who may touch it, as callers say it.

use std::ffi::c_uint;

use cuda_sys::{
    CUdevice, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType, CUresult,
};

use crate::config::Feature;
use crate::driver::unions::location_id;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;

impl State {
    /// Returns the device of a location. Memory of the host is not simulated here.
    pub(crate) fn located(&self, location: &CUmemLocation) -> Result<usize, CUresult> {
        match location.type_ {
            CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
                self.device(CUdevice(location_id(location)))
            }
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST
            | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA
            | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => {
                Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
            }
            _ => Err(INVALID_VALUE),
        }
    }

    /// Reads who may touch the memory of a device: a device that reaches it, and how.
    pub(crate) fn grant(
        &self,
        owner: usize,
        said: &CUmemAccessDesc,
    ) -> Result<(usize, u32), CUresult> {
        let device = self.located(&said.location)?;
        let known = [
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        ];
        if !known.contains(&said.flags) {
            return Err(INVALID_VALUE);
        }
        let [physical, of] = [self.physical(device), self.physical(owner)];
        // Manual, where nothing is said; a real driver lets it pass, and fails later.
        if device != owner && !self.config.can_reach(physical, of) {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        Ok((device, said.flags.0))
    }

    /// Refuses what a device lacks.
    pub(crate) fn needs(&self, device: usize, feature: Feature) -> Result<(), CUresult> {
        if self.has(device, feature) { Ok(()) } else { Err(CUresult::CUDA_ERROR_NOT_SUPPORTED) }
    }

    /// Checks the types of handles that memory shall have: none, or a file descriptor.
    pub(crate) fn check_handle_types(&self, device: usize, types: c_uint) -> Result<(), CUresult> {
        match types {
            0 => Ok(()),
            1 => self.needs(device, Feature::FileDescriptors),
            // Measured of `cuMemCreate`: without a channel for it. Of what is another system's: 1.
            8 | 9 => Err(CUresult::CUDA_ERROR_NOT_PERMITTED),
            _ => Err(INVALID_VALUE),
        }
    }
}
