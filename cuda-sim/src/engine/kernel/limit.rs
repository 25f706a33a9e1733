//! The limits of a launch, those of an H200. Where not said otherwise, answers are the manual's.

use cuda_sys::CUresult;

use super::Shape;
use super::occupancy::{MULTIPROCESSORS, Usage};
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;

/// The most threads of a block.
pub(crate) const MOST_THREADS: u32 = 1024;

/// The greatest blocks and grids, along each axis.
const BLOCK: [u32; 3] = [1024, 1024, 64];
const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];

/// Shared memory of a block, without and with asking for more.
pub(crate) const SHARED: usize = 48 << 10;
pub(crate) const MOST_SHARED: usize = 227 << 10;

/// The most blocks of a cluster, without and with asking for more.
pub(crate) const CLUSTER: u32 = 8;
pub(crate) const MOST_CLUSTER: u32 = 16;

/// Returns the product of extents.
pub(crate) fn volume(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1, |product, &extent| product.saturating_mul(extent.into()))
}

fn fits(extents: [u32; 3], limits: [u32; 3]) -> bool {
    extents.iter().zip(limits).all(|(&extent, limit)| extent > 0 && extent <= limit)
}

impl State {
    /// Checks the shape of a launch, and returns that of its clusters.
    pub(super) fn check_shape(
        &self,
        function: Handle,
        shape: &Shape,
    ) -> Result<[u32; 3], CUresult> {
        let function = self.modules.functions.get(function).ok_or(INVALID_VALUE)?;
        let (entry, settings) = (&function.entry, &function.settings);
        let threads = volume(shape.block);
        let most = entry.most_threads.unwrap_or(MOST_THREADS).min(MOST_THREADS);
        if !fits(shape.grid, GRID) || !fits(shape.block, BLOCK) || threads > most.into() {
            return Err(INVALID_VALUE);
        }
        if entry.block.is_some_and(|block| block != shape.block) {
            return Err(INVALID_VALUE);
        }
        let dynamic = usize::try_from(shape.dynamic_shared).map_err(|_| INVALID_VALUE)?;
        if dynamic > settings.dynamic_shared || entry.shared + dynamic > MOST_SHARED {
            return Err(INVALID_VALUE);
        }
        let usage = Usage { dynamic_shared: dynamic, ..Usage::of(entry, shape.block) };
        if usage.blocks() == 0 {
            return Err(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        }
        let cluster = function.cluster(shape.cluster)?;
        let most = if settings.non_portable { MOST_CLUSTER } else { CLUSTER };
        if volume(cluster) > most.into() {
            return Err(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE);
        }
        let whole = |(grid, cluster): (&u32, u32)| grid.checked_rem(cluster) == Some(0);
        if !shape.grid.iter().zip(cluster).all(whole) {
            return Err(INVALID_VALUE);
        }
        let together = u64::from(usage.blocks()) * u64::from(MULTIPROCESSORS);
        if shape.cooperative && volume(shape.grid) > together {
            return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        Ok(cluster)
    }
}
