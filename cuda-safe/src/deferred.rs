//! Memory whose owner is gone while a stream may still use it: freed once nothing does.
#![expect(unsafe_code, reason = "frees allocations whose owners are gone")]

use core::mem::ManuallyDrop;
use core::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuda_sys::{CUcontext, CUdeviceptr, CUmemGenericAllocationHandle, CUresult};

use crate::context::Context;
use crate::error::{Error, Result, Rule};
use crate::memory::Reservation;
use crate::shim::{self, Allocation, Area, Block, Freed, Relaxed, Timeline, is_inside, raw};

/// Is an allocation without an owner.
pub(crate) struct Orphan {
    address: Address,
    allocation: Arc<Allocation>,
}

/// Says where an allocation is, and so how it is freed.
pub(crate) enum Address {
    /// By `cuMemFree`.
    Device(CUdeviceptr),
    /// By `cuMemFreeHost`.
    Host(usize),
    /// By `cuModuleUnload`: code, and variables with these records.
    Module(usize, Vec<Arc<Allocation>>),
    /// By `cuMemFreeAsync`, in the order of the stream that it was allocated on.
    Ordered(CUdeviceptr, Arc<Timeline>),
    /// By `cuMemHostUnregister`, and then by its owner; where that fails it is not freed.
    Registered(usize, ManuallyDrop<Box<dyn Send>>),
    /// By `cuMemPoolDestroy`: it is no memory, but a pool.
    Pool(usize),
    /// By `cuMemRelease`: it is mapped nowhere.
    Physical(CUmemGenericAllocationHandle),
    /// By `cuMemUnmap`, which waits for nothing, and what comes after it.
    Range(Reservation),
}

impl Address {
    /// Frees the memory; its context is entered. For memory of a pool that is what the driver does
    /// as for any other: behind every kernel of the context.
    ///
    /// # Safety
    ///
    /// It was allocated so, is not freed yet, and nothing uses it any more.
    unsafe fn free(&mut self) -> Result<()> {
        let _relaxed = Relaxed::enter();
        match self {
            // SAFETY: the caller's promise.
            Self::Device(address) | Self::Ordered(address, _) => unsafe { raw::mem_free(*address) },
            Self::Registered(address, owner) => {
                let address = ptr::with_exposed_provenance_mut(*address);
                // SAFETY: the caller's promise.
                unsafe { raw::mem_host_unregister(address) }?;
                // SAFETY: nothing frees it twice.
                unsafe { ManuallyDrop::drop(owner) };
                Ok(())
            }
            Self::Pool(pool) => {
                let pool = ptr::with_exposed_provenance_mut(*pool);
                // SAFETY: the caller's promise.
                unsafe { raw::mem_pool_destroy(pool) }
            }
            Self::Host(address) => {
                let address = ptr::with_exposed_provenance_mut(*address);
                // SAFETY: the caller's promise.
                unsafe { raw::mem_free_host(address) }
            }
            // SAFETY: the caller's promise.
            Self::Physical(handle) => unsafe { raw::mem_release(*handle) },
            // SAFETY: the caller's promise.
            Self::Range(reservation) => unsafe { reservation.free() },
            Self::Module(module, _variables) => {
                let module = ptr::with_exposed_provenance_mut(*module);
                // SAFETY: the caller's promise.
                unsafe { raw::module_unload(module) }
            }
        }
    }
}

/// Is the list of a context's orphans.
pub(crate) struct Queue {
    waiting: AtomicUsize,
    orphans: Mutex<Vec<Orphan>>,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Self { waiting: AtomicUsize::new(0), orphans: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Orphan>> {
        self.orphans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    fn push(&self, orphan: Orphan) {
        let mut orphans = self.lock();
        orphans.push(orphan);
        self.waiting.store(orphans.len(), Ordering::Release);
    }

    /// Waits until nothing uses the orphans any more.
    fn wait(&self) -> Result<()> {
        let waiting: Vec<_> = self.lock().iter().flat_map(Orphan::records).cloned().collect();
        waiting.iter().try_for_each(|orphan| orphan.wait_for_all(Area::bytes(0, orphan.len())))
    }

    /// Frees the orphans that nothing uses any more.
    pub(crate) fn collect(&self, context: &Context) {
        if self.len() == 0 {
            return;
        }
        // No driver call under the lock: two threads share the work.
        let orphans = std::mem::take(&mut *self.lock());
        let (idle, busy): (Vec<_>, Vec<_>) = orphans.into_iter().partition(Orphan::can_go);
        {
            let mut orphans = self.lock();
            orphans.extend(busy);
            self.waiting.store(orphans.len(), Ordering::Release);
        }
        for orphan in idle {
            free(context, orphan);
        }
    }
}

impl Orphan {
    /// Makes one of memory that is freed in the order of a stream.
    fn ordered(timeline: &Arc<Timeline>, Block { address, allocation }: Block) -> Self {
        Self { address: Address::Ordered(address, Arc::clone(timeline)), allocation }
    }

    /// Tells whether it can be freed now, without waiting on the host.
    fn can_go(&self) -> bool {
        matches!(self.address, Address::Ordered(..)) || self.records().all(|it| it.is_idle())
    }

    /// Returns the records of what uses it.
    fn records(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        let variables = match &self.address {
            Address::Module(_, variables) => variables.as_slice(),
            _ => &[],
        };
        [&self.allocation].into_iter().chain(variables)
    }

    /// Waits once more for what the driver frees without waiting. The streams of its context were
    /// `closed`, or could not be; others may have used it too.
    fn wait_at_end(&self, closed: bool) -> Result<()> {
        if !matches!(self.address, Address::Range(_)) {
            return Ok(());
        }
        if !closed {
            // SAFETY: the call takes nothing.
            unsafe { raw::ctx_synchronize() }?;
        }
        self.allocation.wait_for_all(Area::bytes(0, self.allocation.len()))
    }

    /// Frees it; its context is entered.
    ///
    /// # Safety
    ///
    /// As [`Address::free`] demands; only memory that is freed in order may still be in use.
    unsafe fn free(&mut self, context: &Context) -> Freed {
        match &mut self.address {
            Address::Ordered(memory, timeline) => {
                // SAFETY: the caller's promise, and the address is a pool's.
                unsafe { shim::free(context, timeline, *memory, &self.allocation) }
            }
            // SAFETY: the caller's promise.
            address => Freed::Done(unsafe { address.free() }),
        }
    }
}

/// Allocates. What earlier owners left is freed before, as far as nothing uses it; and before an
/// answer that there is no memory is passed on, the rest is waited for.
pub(crate) fn allocate<T>(context: &Context, mut call: impl FnMut() -> Result<T>) -> Result<T> {
    context.queue().collect(context);
    let _relaxed = Relaxed::enter();
    let answer = call();
    let no_memory = |error: &Error| error.code() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    if answer.as_ref().is_err_and(no_memory) {
        release_all(context);
        let freeing: Vec<_> =
            context.timelines().into_iter().filter(|timeline| timeline.is_freeing()).collect();
        if context.uncollected() > 0 || !freeing.is_empty() {
            context.queue().wait()?;
            freeing.iter().try_for_each(|timeline| timeline.wait_for_frees())?;
            context.queue().collect(context);
            return call();
        }
    }
    answer
}

/// Frees memory that nothing uses, or that is freed in order.
///
/// What the driver was not asked to free waits for the next time. What it answers is reported and
/// not tried again: it may have freed the memory all the same, as it does with the answer to earlier
/// work.
fn free(context: &Context, mut orphan: Orphan) {
    let freed = match context.enter("cuMemFree_v2") {
        // SAFETY: the owner is gone and left no other way to the address; nothing uses it, or it is
        // freed in order.
        Ok(_entered) => unsafe { orphan.free(context) },
        // It went with its context, or is a pool's: that one leaks.
        Err(error) if error.rule() == Some(Rule::Alive) => Freed::Done(Err(error)),
        Err(_again) => Freed::NotYet,
    };
    match freed {
        Freed::Done(Ok(())) => {}
        Freed::Done(Err(error)) => context.report(error),
        Freed::NotYet => context.queue().push(orphan),
    }
}

/// Frees what a stream keeps.
pub(crate) fn release(
    context: &Context,
    timeline: &Arc<Timeline>,
    kept: impl IntoIterator<Item = Block>,
) {
    for block in kept {
        free(context, Orphan::ordered(timeline, block));
    }
}

/// Frees what the streams of a context keep.
pub(crate) fn release_all(context: &Context) {
    for timeline in context.timelines() {
        release(context, &timeline, timeline.take_all_kept());
    }
}

/// Takes memory of the device's current pool whose owner is being dropped: the stream that it was
/// allocated on keeps it, or it is given up.
pub(crate) fn keep(context: &Context, timeline: &Arc<Timeline>, block: Block) {
    // A forked child has the address, but not the memory.
    if !context.is_own_process() {
        return;
    }
    let given_up = match context.enter("cuMemFreeAsync") {
        Ok(_entered) => shim::keep(timeline, block),
        Err(_) => vec![block],
    };
    if given_up.is_empty() {
        context.queue().collect(context);
    }
    for block in given_up {
        let address = Address::Ordered(block.address, Arc::clone(timeline));
        give_up(context, address, block.allocation);
    }
}

/// Takes the memory of an owner that is being dropped: frees it if nothing uses it, else queues it.
///
/// The owner was the only way to `address`.
pub(crate) fn give_up(context: &Context, address: Address, allocation: Arc<Allocation>) {
    // A forked child has the addresses, but neither the context nor the memory.
    if !context.is_own_process() {
        return;
    }
    let orphan = Orphan { address, allocation };
    if is_inside() {
        // The driver must not be called here; the next allocation, drop or wait frees it.
        context.queue().push(orphan);
        return;
    }
    context.queue().collect(context);
    if orphan.can_go() {
        free(context, orphan);
    } else {
        context.queue().push(orphan);
    }
}

/// Ends a context: waits for its streams, frees its orphans. Nobody holds it any more.
pub(crate) fn end(
    context: CUcontext,
    driver_id: Option<u64>,
    queue: &Queue,
    (timelines, reclaim): (&Mutex<Vec<Weak<Timeline>>>, Option<Arc<Timeline>>),
    report: impl Fn(Error),
) {
    let streams: Vec<_> = {
        let mut timelines = timelines.lock().unwrap_or_else(PoisonError::into_inner);
        timelines.drain(..).filter_map(|timeline| timeline.upgrade()).collect()
    };
    let mut orphans = std::mem::take(&mut *queue.lock());
    for stream in &streams {
        orphans
            .extend(stream.take_all_kept().into_iter().map(|block| Orphan::ordered(stream, block)));
    }
    if streams.is_empty() && orphans.is_empty() {
        return;
    }
    let result = enter_raw(context, driver_id, || {
        if let Some((stream, recorded)) = reclaim.and_then(|reclaim| reclaim.retire()) {
            // SAFETY: the handle is alive, and was taken from the only place that has it.
            let destroyed = unsafe { raw::stream_destroy(stream) };
            if let Err(error) = recorded.and(destroyed) {
                report(error);
            }
        }
        let mut closed = true;
        for stream in &streams {
            if let Err(error) = stream.close() {
                closed = false;
                report(error);
            }
        }
        for mut orphan in orphans {
            let freed = orphan.wait_at_end(closed).and_then(|()| {
                // SAFETY: the owner is gone, and the streams were waited for; should that have
                // failed, the driver's own free waits for every kernel of the context.
                unsafe { orphan.address.free() }
            });
            if let Err(error) = freed {
                report(error);
            }
        }
    });
    if let Err(error) = result {
        report(error);
    }
}

/// Enters a context that has no holder left, unless it was reset.
fn enter_raw(context: CUcontext, driver_id: Option<u64>, work: impl FnOnce()) -> Result<()> {
    if let Some(expected) = driver_id {
        let mut id = 0;
        // SAFETY: the call writes one number; a stale handle of a primary context answers.
        unsafe { raw::ctx_get_id(context, &raw mut id) }?;
        if id != expected {
            // It was reset: what was in it is gone.
            return Ok(());
        }
    }
    let mut previous = ptr::null_mut();
    // SAFETY: the call writes one handle.
    unsafe { raw::ctx_get_current(&raw mut previous) }?;
    // SAFETY: the context is released only after this.
    unsafe { raw::ctx_set_current(context) }?;
    work();
    // SAFETY: it was the thread's context before.
    unsafe { raw::ctx_set_current(previous) }
}
