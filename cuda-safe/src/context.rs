//! Contexts, each shared by everything that is made in it: a device's primary one, or one of one's
//! own.
//!
//! A [`Context`] is counted: each object that was made in it keeps it, so that objects may be
//! dropped in any order. Calls enter it for themselves and restore what the thread had before; a
//! thread need not know contexts at all. The last drop waits for the work of its streams.

mod created;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuda_sys::{CU_STREAM_LEGACY, CUcontext};

use crate::call;
use crate::deferred::Queue;
use crate::device::Device;
use crate::error::{Error, Result, Rule};
use crate::fork::Process;
use crate::shim::Timeline;

/// Is a context: a device's primary one, retained, or one of one's own.
///
/// Driver: [`CUcontext`](crate::sys::CUcontext), chapters Primary Context Management and Context
/// Management.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

/// Is what its clones share.
pub(crate) struct Inner {
    id: u64,
    device: Device,
    raw: RawContext,
    origin: Origin,
    /// The driver's number, which differs after a reset; none from drivers that have none.
    driver_id: Option<u64>,
    /// The process that made it: in a forked child it is of no use.
    process: Process,
    timelines: Mutex<Vec<Weak<Timeline>>>,
    legacy: Mutex<Weak<Timeline>>,
    /// The stream that frees what its own streams can't.
    reclaim: Mutex<Option<Arc<Timeline>>>,
    queue: Queue,
    hook: Mutex<Option<Hook>>,
    reported: AtomicU64,
}

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

/// Is where a context comes from, and so how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It was retained, and is released.
    Primary,
    /// It was made, and is destroyed.
    Created,
}

#[derive(Clone, Copy)]
struct RawContext(CUcontext);

#[expect(unsafe_code, reason = "a context may be used from every thread")]
// SAFETY: the driver's contexts may be made current in every thread.
unsafe impl Send for RawContext {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for RawContext {}

/// Lists the primary contexts of this process, so that each device has one.
static CONTEXTS: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Arc<Inner>> for Context {
    fn from(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Context {
    /// Retains the primary context of a device.
    ///
    /// While one is alive in this process, and nobody reset it, it is that one.
    ///
    /// Driver: [`cuDevicePrimaryCtxRetain`](crate::call::device_primary_ctx_retain).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn primary(device: Device) -> Result<Self> {
        let mut contexts = lock(&CONTEXTS);
        contexts.retain(|known| known.strong_count() > 0);
        for known in contexts.iter().filter_map(Weak::upgrade).map(Self) {
            if known.device() == device {
                match known.check_alive("cuDevicePrimaryCtxRetain") {
                    Ok(()) => return Ok(known),
                    // It was reset: the device gets a new one.
                    Err(error) if error.rule() == Some(Rule::Alive) => {}
                    // A second value of the same context would order nothing with the first.
                    Err(error) => return Err(error),
                }
            }
        }
        let raw = call::device_primary_ctx_retain(&device)?;
        let context = Self::make(device, raw, Origin::Primary)?;
        contexts.push(Arc::downgrade(&context.0));
        Ok(context)
    }

    /// Makes the value of a context that the driver gave; its end gives it back.
    fn make(device: Device, raw: CUcontext, origin: Origin) -> Result<Self> {
        let mut inner = Inner {
            id: next_id(),
            device,
            raw: RawContext(raw),
            origin,
            driver_id: None,
            process: Process::current(),
            timelines: Mutex::new(Vec::new()),
            legacy: Mutex::new(Weak::new()),
            reclaim: Mutex::new(None),
            queue: Queue::new(),
            hook: Mutex::new(None),
            reported: AtomicU64::new(0),
        };
        inner.driver_id = driver_id(raw)?;
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the device.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Returns a number that no other context of this process has or had.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Returns the driver's number for the context, which differs after a reset; none from drivers
    /// before CUDA 12.
    pub fn driver_id(&self) -> Option<u64> {
        self.0.driver_id
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.0.raw.0
    }

    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    /// Waits until everything that was enqueued in the context is done, frees what waited for it.
    ///
    /// Driver: [`cuCtxSynchronize`](crate::call::ctx_synchronize).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        crate::deferred::release_all(self);
        let marks: Vec<_> = self.timelines().into_iter().map(|it| (it.cut(), it)).collect();
        call::ctx_synchronize(self)?;
        for (mark, timeline) in marks {
            timeline.note_reached(mark);
        }
        self.queue().collect(self);
        Ok(())
    }

    /// Returns how many bytes of the device are free, and how many it has.
    ///
    /// Driver: [`cuMemGetInfo_v2`](crate::call::mem_get_info).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn memory_info(&self) -> Result<(usize, usize)> {
        call::mem_get_info(self)
    }

    /// Makes the context the thread's, and leaves it so: calls then need not enter it.
    ///
    /// Driver: [`cuCtxSetCurrent`](crate::call::ctx_set_current).
    ///
    /// # Errors
    ///
    /// As the driver answers, or if the context was reset; [`Rule::Primary`](crate::Rule::Primary)
    /// for one that was created, since the thread would keep its handle beyond its end: that one is
    /// the thread's in [`run`](Self::run).
    pub fn make_current(&self) -> Result<()> {
        self.check_kept()?;
        self.check_alive("cuCtxSetCurrent")?;
        #[expect(unsafe_code, reason = "sets the thread's context")]
        // SAFETY: the context is retained while this value lives; afterwards the handle of a
        // primary context answers, as measured, that it is destroyed.
        unsafe {
            call::ctx_set_current(self.raw())
        }
    }

    /// Runs `work` with the context as the thread's, then restores the caller's.
    ///
    /// Driver: [`cuCtxSetCurrent`](crate::call::ctx_set_current).
    ///
    /// # Errors
    ///
    /// As `work` answers, or if the context was reset.
    pub fn run<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let _entered = self.enter("cuCtxSetCurrent")?;
        work()
    }

    /// Frees memory whose drop had to be put off, as far as its uses are done by now, and what streams
    /// keep for their next allocations.
    ///
    /// [`synchronize`](Self::synchronize) does so by itself; allocations and drops do the former.
    ///
    /// Driver: [`cuMemFreeAsync`](crate::call::mem_free_async) of what streams keep; of the rest
    /// [`cuMemFree_v2`](crate::call::mem_free), [`cuMemFreeHost`](crate::call::mem_free_host), or
    /// whatever ends what was dropped.
    pub fn collect(&self) {
        crate::deferred::release_all(self);
        self.queue().collect(self);
    }

    /// Returns how many dropped allocations are not freed yet, but for those that streams keep.
    pub fn uncollected(&self) -> usize {
        self.0.queue.len()
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// Calls `hook` with each error that has nobody to be returned to: those of drops.
    pub fn on_error(&self, hook: impl Fn(&Error) + Send + Sync + 'static) {
        *lock(&self.0.hook) = Some(Arc::new(hook));
    }

    /// Returns how many errors had nobody to be returned to.
    pub fn reported_errors(&self) -> u64 {
        self.0.reported.load(Ordering::Relaxed)
    }

    /// Counts an error that has nobody to be returned to, and passes it to the hook.
    pub(crate) fn report(&self, error: Error) {
        self.0.report(&error);
    }

    /// Tells whether this is the process that made it.
    pub(crate) fn is_own_process(&self) -> bool {
        self.0.process.is_current()
    }

    /// Remembers a stream, so that the end of the context waits for it.
    pub(crate) fn adopt(&self, timeline: &Arc<Timeline>) {
        let mut timelines = lock(&self.0.timelines);
        timelines.retain(|known| known.strong_count() > 0);
        timelines.push(Arc::downgrade(timeline));
    }

    pub(crate) fn timelines(&self) -> Vec<Arc<Timeline>> {
        lock(&self.0.timelines).iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns the state of the stream that frees what no other can; the context is entered.
    pub(crate) fn reclaim_timeline(&self) -> Result<Arc<Timeline>> {
        let mut reclaim = lock(&self.0.reclaim);
        if let Some(timeline) = reclaim.as_ref() {
            return Ok(Arc::clone(timeline));
        }
        let timeline = crate::shim::reclaim(self)?;
        *reclaim = Some(Arc::clone(&timeline));
        Ok(timeline)
    }

    /// Returns the state of the default stream. A new one is made only if no record names the
    /// last.
    pub(crate) fn legacy_timeline(&self) -> Arc<Timeline> {
        let mut legacy = lock(&self.0.legacy);
        legacy.upgrade().unwrap_or_else(|| {
            let timeline = Timeline::new(self, CU_STREAM_LEGACY);
            *legacy = Arc::downgrade(&timeline);
            timeline
        })
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Asks for the driver's number. A context without one would be used after a reset by others.
fn driver_id(raw: CUcontext) -> Result<Option<u64>> {
    #[expect(unsafe_code, reason = "asks with a handle that was just retained")]
    // SAFETY: the handle was just retained.
    let id = unsafe { call::ctx_get_id(raw) };
    match id {
        Ok(id) => Ok(Some(id)),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Inner {
    fn report(&self, error: &Error) {
        self.reported.fetch_add(1, Ordering::Relaxed);
        let hook = lock(&self.hook).clone();
        if let Some(hook) = hook {
            hook(error);
        }
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("id", &self.0.id)
            .field("device", &self.0.device)
            .field("driver_id", &self.0.driver_id)
            .finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "vouches for the handle")]
// SAFETY: the context is retained while the value lives. It belongs to no other.
unsafe impl crate::shim::Handle for Context {
    type Raw = CUcontext;

    fn raw(&self) -> CUcontext {
        self.raw()
    }

    fn home(&self) -> Option<&Context> {
        None
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return;
        }
        if let Err(error) = crate::shim::outside("cuDevicePrimaryCtxRelease_v2") {
            // In a callback the driver must not be called: the context is kept for good.
            return self.report(&error);
        }
        let streams = (&self.timelines, lock(&self.reclaim).take());
        crate::deferred::end(self.raw.0, self.driver_id, &self.queue, streams, |error| {
            self.report(&error);
        });
        crate::shim::forget(self.id);
        #[expect(unsafe_code, reason = "gives back what was retained or made")]
        let ended = match self.origin {
            // SAFETY: it was retained once for this value, and nothing made in it is left.
            Origin::Primary => unsafe { call::device_primary_ctx_release(self.device.raw()) },
            // SAFETY: it was made for this value, and nothing made in it is left; no thread keeps it.
            Origin::Created => unsafe { call::ctx_destroy(self.raw.0) },
        };
        if let Err(error) = ended {
            self.report(&error);
        }
    }
}
