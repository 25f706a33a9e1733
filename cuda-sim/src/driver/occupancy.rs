//! How many blocks of a kernel run at once: answers of the published formula (*manual*).
//!
//! Unsafe, because it calls a function of the program's.

#![expect(unsafe_code, reason = "the program says by a function how much memory a block needs")]
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint};

use cuda_sys::{CUfunction, CUlaunchConfig, CUoccupancyB2DSize, CUresult};

use super::launch::attribute;
use crate::engine::handle::RawHandle;
use crate::engine::kernel::limit::{CLUSTER, MOST_CLUSTER, MOST_THREADS, volume};
use crate::engine::kernel::occupancy::{MULTIPROCESSORS, Usage};
use crate::engine::module::function::Function;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::kernel;

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, the only flag.
const DISABLE_CACHING_OVERRIDE: c_uint = 1;

fn function(session: &mut Session, function: CUfunction) -> Result<&Function, CUresult> {
    let call = session.call();
    session.function(call, function.number())
}

/// Returns what a block needs.
fn usage(function: &Function, threads: u32, dynamic_shared: usize) -> Usage {
    Usage { dynamic_shared, ..Usage::of(&function.entry, [threads, 1, 1]) }
}

/// Returns the most threads that a block of a function may have.
fn most_threads(function: &Function) -> u32 {
    function.entry.most_threads.unwrap_or(MOST_THREADS).min(MOST_THREADS)
}

fn active_blocks(
    mut session: Session,
    out: &Out<c_int>,
    handle: CUfunction,
    threads: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> Answer {
    out.required()?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0);
    let threads = threads.ok_or(INVALID_VALUE)?;
    if flags > DISABLE_CACHING_OVERRIDE {
        return Err(INVALID_VALUE);
    }
    let function = function(&mut session, handle)?;
    let fits =
        threads <= most_threads(function) && dynamic_shared <= function.settings.dynamic_shared;
    let blocks = if fits { usage(function, threads, dynamic_shared).blocks() } else { 0 };
    out.write(c_int::try_from(blocks).unwrap_or(0));
    Ok(())
}

/// Is what a block needs of shared memory, by its threads.
struct Shared {
    by_threads: CUoccupancyB2DSize,
    always: usize,
}

impl Shared {
    /// Asks the program, whose function must not call the driver.
    fn of(&self, threads: u32) -> Result<usize, CUresult> {
        let Some(by_threads) = self.by_threads else { return Ok(self.always) };
        let threads = c_int::try_from(threads).map_err(|_| INVALID_VALUE)?;
        // SAFETY: the program gave the function to be called so.
        kernel::inside(|| unsafe { by_threads(threads) }).map_err(|_| INVALID_VALUE)
    }
}

/// Finds the block of the most threads that run at once; of several, the largest.
fn potential_block(
    mut session: Session,
    [grid_out, block_out]: [&Out<c_int>; 2],
    handle: CUfunction,
    shared: &Shared,
    limit: c_int,
    flags: c_uint,
) -> Answer {
    grid_out.required()?;
    block_out.required()?;
    if flags > DISABLE_CACHING_OVERRIDE || limit < 0 {
        return Err(INVALID_VALUE);
    }
    let function = function(&mut session, handle)?;
    let limit = u32::try_from(limit).ok().filter(|&limit| limit > 0).unwrap_or(MOST_THREADS);
    let most = most_threads(function).min(limit);
    let mut best = (0, 0, 0);
    let mut threads = most;
    while threads > 0 {
        let blocks = usage(function, threads, shared.of(threads)?).blocks();
        best = best.max((blocks * threads, threads, blocks));
        // The next lower multiple of a warp.
        threads = (threads - 1) / 32 * 32;
    }
    let (_, threads, blocks) = best;
    let grid = blocks * MULTIPROCESSORS;
    grid_out.write(c_int::try_from(grid).unwrap_or(c_int::MAX));
    block_out.write(c_int::try_from(threads).unwrap_or(0));
    Ok(())
}

/// Returns how many clusters of a shape run at once: their blocks are neighbours in one of the parts
/// that a device is made of.
fn active_clusters(usage: &Usage, cluster: [u32; 3]) -> u32 {
    /// An H200 has so many parts, each of so many multiprocessors, some of which are off.
    const PARTS: u32 = 8;
    let room = usage.blocks() * (MULTIPROCESSORS / PARTS);
    let blocks = u32::try_from(volume(cluster)).unwrap_or(u32::MAX);
    room.checked_div(blocks).unwrap_or(0) * PARTS
}

simulate! {
    /// Tells how many blocks a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: out c_int, function: val CUfunction, threads: val c_int, shared: val usize,
    ) |session| {
        active_blocks(session, &blocks, function, threads, shared, 0)
    }

    /// Tells how many blocks a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: out c_int, function: val CUfunction, threads: val c_int, shared: val usize,
        flags: val c_uint,
    ) |session| {
        active_blocks(session, &blocks, function, threads, shared, flags)
    }

    /// Finds the block of the most threads that run at once.
    fn cuOccupancyMaxPotentialBlockSize(
        grid: out c_int, block: out c_int, function: val CUfunction,
        by_threads: opaque CUoccupancyB2DSize, always: val usize, limit: val c_int,
    ) |session| {
        let shared = Shared { by_threads: by_threads.0, always };
        potential_block(session, [&grid, &block], function, &shared, limit, 0)
    }

    /// Finds the block of the most threads that run at once.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: out c_int, block: out c_int, function: val CUfunction,
        by_threads: opaque CUoccupancyB2DSize, always: val usize, limit: val c_int,
        flags: val c_uint,
    ) |session| {
        let shared = Shared { by_threads: by_threads.0, always };
        potential_block(session, [&grid, &block], function, &shared, limit, flags)
    }

    /// Tells how much more shared memory each of that many blocks can have.
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: out usize, function: val CUfunction, blocks: val c_int, threads: val c_int,
    ) |mut session| {
        bytes.required()?;
        let positive = |number: c_int| u32::try_from(number).ok().filter(|&number| number > 0);
        let blocks = positive(blocks).ok_or(INVALID_VALUE)?;
        let threads = positive(threads).ok_or(INVALID_VALUE)?;
        let function = self::function(&mut session, function)?;
        let spare = usage(function, threads, 0).spare_shared(blocks).ok_or(INVALID_VALUE)?;
        bytes.write(spare.min(function.settings.dynamic_shared));
        Ok(())
    }

    /// Tells the most blocks that a cluster may have.
    fn cuOccupancyMaxPotentialClusterSize(
        size: out c_int, function: val CUfunction, config: into CUlaunchConfig,
    ) |mut session| {
        size.required()?;
        let shape = attribute::shape(&config.read()?)?;
        let function = self::function(&mut session, function)?;
        let most = if function.settings.non_portable { MOST_CLUSTER } else { CLUSTER };
        let threads = u32::try_from(volume(shape.block)).unwrap_or(u32::MAX);
        let dynamic = usize::try_from(shape.dynamic_shared).map_err(|_| INVALID_VALUE)?;
        let fits = usage(function, threads, dynamic).blocks() > 0;
        size.write(if fits { c_int::try_from(most).unwrap_or(0) } else { 0 });
        Ok(())
    }

    /// Tells how many clusters of a launch run at once.
    fn cuOccupancyMaxActiveClusters(
        clusters: out c_int, function: val CUfunction, config: into CUlaunchConfig,
    ) |mut session| {
        clusters.required()?;
        let shape = attribute::shape(&config.read()?)?;
        let function = self::function(&mut session, function)?;
        let cluster = function.cluster(shape.cluster)?;
        let threads = u32::try_from(volume(shape.block)).unwrap_or(u32::MAX);
        let dynamic = usize::try_from(shape.dynamic_shared).map_err(|_| INVALID_VALUE)?;
        let active = active_clusters(&usage(function, threads, dynamic), cluster);
        clusters.write(c_int::try_from(active).unwrap_or(0));
        Ok(())
    }
}
