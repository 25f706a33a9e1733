//! Occupancy: how much of a device a kernel fills.
//!
//! Chapter: Occupancy, whole.

use core::ffi::{c_int, c_uint};

use cuda_codegen::driver;
use cuda_sys::{CUfunction, CUlaunchConfig, CUoccupancyB2DSize};

/// Asks how many blocks of a kernel a multiprocessor holds.
#[driver(cuOccupancyMaxActiveBlocksPerMultiprocessor, home = handle)]
pub fn occupancy_max_active_blocks_per_multiprocessor(
    #[out] num_blocks @ numBlocks: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[value] block_size @ blockSize: c_int,
    #[value] shared_memory @ dynamicSMemSize: usize,
);

/// Asks how many blocks of a kernel a multiprocessor holds, as the flags say.
#[driver(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, home = handle)]
pub fn occupancy_max_active_blocks_per_multiprocessor_with_flags(
    #[out] num_blocks @ numBlocks: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[value] block_size @ blockSize: c_int,
    #[value] shared_memory @ dynamicSMemSize: usize,
    #[value] flags: c_uint,
);

/// Asks how much shared memory each block may have, if a multiprocessor is to hold so many.
#[driver(cuOccupancyAvailableDynamicSMemPerBlock, home = handle)]
pub fn occupancy_available_dynamic_smem_per_block(
    #[out] shared_memory @ dynamicSmemSize: *mut usize,
    #[handle] function @ func: CUfunction,
    #[value] blocks @ numBlocks: c_int,
    #[value] block_size @ blockSize: c_int,
);

/// Asks for the block size that fills a device, and the smallest grid for it.
///
/// # Safety
///
/// The function is null, or answers for any block size, and does not unwind.
#[driver(cuOccupancyMaxPotentialBlockSize, home = handle)]
pub unsafe fn occupancy_max_potential_block_size(
    #[out] min_grid_size @ minGridSize: *mut c_int,
    #[out] block_size @ blockSize: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[raw] shared_memory_of @ blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    #[value] shared_memory @ dynamicSMemSize: usize,
    #[value] block_size_limit @ blockSizeLimit: c_int,
);

/// Asks for the block size that fills a device, and the smallest grid for it, as the flags say.
///
/// # Safety
///
/// The function is null, or answers for any block size, and does not unwind.
#[driver(cuOccupancyMaxPotentialBlockSizeWithFlags, home = handle)]
pub unsafe fn occupancy_max_potential_block_size_with_flags(
    #[out] min_grid_size @ minGridSize: *mut c_int,
    #[out] block_size @ blockSize: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[raw] shared_memory_of @ blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    #[value] shared_memory @ dynamicSMemSize: usize,
    #[value] block_size_limit @ blockSizeLimit: c_int,
    #[value] flags: c_uint,
);

/// Asks how many clusters of a kernel a device holds.
///
/// # Safety
///
/// The configuration names as many attributes as it says.
#[driver(cuOccupancyMaxActiveClusters, home = handle)]
pub unsafe fn occupancy_max_active_clusters(
    #[out] num_clusters @ numClusters: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[raw] config: *const CUlaunchConfig,
);

/// Asks how many blocks a cluster of a kernel may have.
///
/// # Safety
///
/// The configuration names as many attributes as it says.
#[driver(cuOccupancyMaxPotentialClusterSize, home = handle)]
pub unsafe fn occupancy_max_potential_cluster_size(
    #[out] cluster_size @ clusterSize: *mut c_int,
    #[handle] function @ func: CUfunction,
    #[raw] config: *const CUlaunchConfig,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &OCCUPANCY_MAX_ACTIVE_BLOCKS_PER_MULTIPROCESSOR,
    &OCCUPANCY_MAX_ACTIVE_BLOCKS_PER_MULTIPROCESSOR_WITH_FLAGS,
    &OCCUPANCY_AVAILABLE_DYNAMIC_SMEM_PER_BLOCK,
    &OCCUPANCY_MAX_POTENTIAL_BLOCK_SIZE,
    &OCCUPANCY_MAX_POTENTIAL_BLOCK_SIZE_WITH_FLAGS,
    &OCCUPANCY_MAX_ACTIVE_CLUSTERS,
    &OCCUPANCY_MAX_POTENTIAL_CLUSTER_SIZE,
];
