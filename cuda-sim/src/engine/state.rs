//! All that the simulated driver knows, behind one lock.

use std::collections::{BTreeMap, HashMap};

use cuda_sys::{CUresult, CUstream};

use crate::call_site;
use crate::config::{Config, Feature, Scheduler};
use crate::driver::context::Context;
use crate::driver::event::Event;
use crate::driver::host_function::Callbacks;
use crate::driver::ipc::Imports;
use crate::driver::ipc::board::OwnEvents;
use crate::driver::stream::Stream;
use crate::driver::stream_attribute::StreamAttributes;
use crate::engine::address_space::AddressSpace;
use crate::engine::between::Between;
use crate::engine::binary::VariableSpace;
use crate::engine::capture::Captures;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::current;
use crate::engine::descriptor::Descriptors;
use crate::engine::graph::Graphs;
use crate::engine::handle::{Ended, Handle, Kind, RawHandle, Table};
use crate::engine::image::Images;
use crate::engine::lane::{LaneKind, Lanes, MOST_CLOSED};
use crate::engine::managed::Managed;
use crate::engine::module::Modules;
use crate::engine::pool::Pools;
use crate::engine::protection::Protection;
use crate::engine::queue::Queue;
use crate::engine::registry::{BufferId, MemoryKind, Registry};
use crate::engine::virtual_memory::VirtualMemory;
use crate::engine::work::ItemId;
use crate::fault::Faults;
use crate::log::Call;
use crate::report::{Finding, FindingKind, Findings, Report, Side};

/// `CU_STREAM_PER_THREAD`, as a number.
pub(crate) const PER_THREAD: Handle = 2;

/// Is the whole state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    /// The ordinals of the machine's devices that this process sees.
    pub(crate) devices: Vec<usize>,
    pub(crate) initialized: bool,
    pub(crate) contexts: Table<Context>,
    /// The primary contexts, by device.
    pub(crate) primary: Vec<Handle>,
    pub(crate) last_context_id: u64,
    /// The error of a kernel that every context answers.
    pub(crate) struck: Option<CUresult>,
    pub(crate) lanes: Lanes,
    pub(crate) streams: Table<Stream>,
    pub(crate) stream_attributes: StreamAttributes,
    pub(crate) events: Table<Event>,
    pub(crate) pools: Pools,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) space: AddressSpace,
    pub(crate) registry: Registry,
    pub(crate) managed: Managed,
    pub(crate) protection: Protection,
    pub(crate) images: Images,
    pub(crate) imports: Imports,
    pub(crate) descriptors: Descriptors,
    pub(crate) own_events: OwnEvents,
    pub(crate) between: Between,
    pub(crate) queue: Queue,
    /// The first wait for a value of each lane that has one: what comes behind it may be ordered by
    /// the value.
    pub(crate) value_waits: HashMap<LaneId, u64>,
    pub(crate) modules: Modules,
    /// The kernels that are queued, with what the host knew to be done when they were.
    pub(crate) kernels: BTreeMap<ItemId, Clock>,
    pub(crate) graphs: Graphs,
    pub(crate) captures: Captures,
    /// What the host knows to be done.
    pub(crate) host_clock: Clock,
    pub(crate) callbacks: Callbacks,
    pub(crate) findings: Findings,
    pub(crate) faults: Faults,
    pub(crate) log: Vec<Call>,
    pub(crate) random: u64,
}

impl State {
    pub(crate) fn new(config: Config, devices: Vec<usize>, space: AddressSpace) -> Self {
        let random = match config.order() {
            Scheduler::Seeded(seed) => seed,
            Scheduler::Eager | Scheduler::Lazy => 0,
        };
        let mut state = Self {
            faults: Faults::new(config.failures.clone()),
            config,
            initialized: false,
            contexts: Table::new(Kind::Context),
            primary: Vec::new(),
            last_context_id: 0,
            struck: None,
            lanes: Lanes::default(),
            streams: Table::new(Kind::Stream),
            stream_attributes: StreamAttributes::new(),
            events: Table::new(Kind::Event),
            pools: Pools::new(devices.len()),
            virtual_memory: VirtualMemory::default(),
            devices,
            space,
            registry: Registry::default(),
            managed: Managed::default(),
            protection: Protection::default(),
            images: Images::default(),
            imports: Imports::default(),
            descriptors: Descriptors::default(),
            own_events: OwnEvents::default(),
            between: Between::default(),
            queue: Queue::default(),
            value_waits: HashMap::new(),
            modules: Modules::default(),
            kernels: BTreeMap::new(),
            graphs: Graphs::default(),
            captures: Captures::default(),
            host_clock: Clock::default(),
            callbacks: Callbacks::default(),
            findings: Findings::default(),
            log: Vec::new(),
            random,
        };
        for device in 0..state.devices.len() {
            let handle = state.contexts.insert_with(|handle| Context::primary(handle, device));
            state.primary.extend(handle);
        }
        state
    }

    /// Returns which of the machine's devices one of this process's is.
    pub(crate) fn physical(&self, device: usize) -> usize {
        self.devices.get(device).copied().unwrap_or(device)
    }

    /// Tells whether a device has a feature.
    pub(crate) fn has(&self, device: usize, feature: Feature) -> bool {
        self.config.has(self.physical(device), feature)
    }

    /// Returns the current context, if there is one, it lives, and no error stays in it.
    pub(crate) fn context(&self) -> Result<&Context, CUresult> {
        let handle = current::get().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        match self.contexts.get(handle) {
            Some(context) if context.alive => self.usable(handle).map(|()| context),
            // Measured for a primary context that was reset; manual for any other.
            _ => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
        }
    }

    /// Lets an error stay in a context: its calls answer it, and what is queued in it is dropped.
    /// The first one stays.
    pub(crate) fn poison_context(&mut self, handle: Handle, code: CUresult) {
        if let Some(context) = self.contexts.get_mut(handle) {
            context.sticky.get_or_insert(code);
        }
        self.drop_waits(handle);
    }

    /// Lets an error of a kernel stay in every context of every device, in those to come too
    /// (measured). The first one stays.
    pub(crate) fn strike(&mut self, code: CUresult) {
        self.struck.get_or_insert(code);
    }

    /// Returns the error that stays in a context.
    pub(crate) fn sticky(&self, handle: Handle) -> Option<CUresult> {
        self.struck.or_else(|| self.own_error(handle))
    }

    /// Returns the error that stays in a context and in no other.
    pub(crate) fn own_error(&self, handle: Handle) -> Option<CUresult> {
        self.contexts.get(handle).and_then(|context| context.sticky)
    }

    /// Refuses a context in which an error stays. Calls that free or destroy still find it.
    pub(crate) fn usable(&self, handle: Handle) -> Result<(), CUresult> {
        match self.sticky(handle) {
            Some(code) if !call_site::ends_something() => Err(code),
            _ => Ok(()),
        }
    }

    /// Returns the lane of a stream, without asking whose stream it is.
    pub(crate) fn lane(&mut self, stream: CUstream) -> Result<LaneId, CUresult> {
        match stream.number() {
            0 | 1 => Ok(self.context()?.own.legacy),
            PER_THREAD => self.per_thread_lane(),
            handle => self.stream(handle).map(|stream| stream.lane),
        }
    }

    /// Returns the lane of a stream for work that the current context queues. That the stream is another
    /// context's is reported, and goes well (measured).
    pub(crate) fn lane_for_work(
        &mut self,
        stream: CUstream,
        call: &'static str,
    ) -> Result<LaneId, CUresult> {
        let context = self.context()?.handle;
        let lane = self.lane(stream)?;
        if self.lanes.get(lane).is_some_and(|lane| lane.context != context) {
            self.findings.add(Finding {
                kind: FindingKind::WrongContext,
                earlier: self.streams.get(stream.number()).map(|stream| stream.made_by.clone()),
                later: Side::new(call, "hStream"),
                subject: "the stream is of another context than the current one".to_owned(),
            });
        }
        Ok(lane)
    }

    /// Returns a stream object. A stale handle, which crashes a real driver (measured), is reported.
    pub(crate) fn stream(&mut self, handle: Handle) -> Result<Stream, CUresult> {
        if let Some(stream) = self.streams.get(handle) {
            self.usable(stream.context)?;
            return Ok(stream.clone());
        }
        if let Some(ended) = self.streams.ended(handle) {
            self.stale("hStream", "the stream was destroyed; a real driver crashes", ended);
        }
        // Measured after a reset: 709 while the context is gone, else 400.
        let gone = current::get()
            .and_then(|context| self.contexts.get(context))
            .is_some_and(|context| !context.alive);
        Err(if gone {
            CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        } else {
            CUresult::CUDA_ERROR_INVALID_HANDLE
        })
    }

    /// Reports a handle whose object is gone.
    pub(crate) fn stale(&mut self, operand: &'static str, subject: &str, ended: Ended) {
        self.findings.add(Finding {
            kind: FindingKind::StaleHandle,
            earlier: ended.by,
            later: Side::new(call_site::function(), operand),
            subject: subject.to_owned(),
        });
    }

    fn per_thread_lane(&mut self) -> Result<LaneId, CUresult> {
        let handle = self.context()?.handle;
        let thread = std::thread::current().id();
        let gone = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
        let context = self.contexts.get_mut(handle).ok_or(gone)?;
        if let Some(&lane) = context.own.per_thread.get(&thread) {
            return Ok(lane);
        }
        let label = |id| format!("per-thread stream #{id}");
        let lane = self.lanes.add(handle, LaneKind::Blocking, label);
        context.own.per_thread.insert(thread, lane);
        self.begin_lane(lane, handle);
        Ok(lane)
    }

    /// Notes that the host knows everything of `clock` to be done.
    pub(crate) fn known(&mut self, clock: &Clock) {
        if !self.config.reports {
            return;
        }
        self.host_clock.join(clock);
        self.between.settle(&self.host_clock);
        self.return_managed();
        if self.lanes.wants_sweep() {
            self.sweep_lanes();
        }
    }

    /// Closes the lane of a stream that is destroyed; its work still runs.
    pub(crate) fn close_lane(&mut self, lane: LaneId) {
        self.lanes.close(lane);
        if self.lanes.wants_sweep() {
            self.sweep_lanes();
        }
    }

    /// Forgets the lanes that are closed and known to be done, wherever they are named.
    fn sweep_lanes(&mut self) {
        let queue = &mut self.queue;
        // Without clocks nothing is known of lanes but what is queued.
        let most = if self.config.reports { MOST_CLOSED } else { 0 };
        self.lanes.sweep(&self.host_clock, most, |item| queue.is_pending(item));
        let lanes = &self.lanes;
        self.registry.forget(&self.host_clock, |lane| !lanes.contains(lane));
        self.host_clock.retain(|lane| lanes.contains(lane));
        for event in self.events.values_mut() {
            if let Some(record) = &mut event.record {
                record.clock.retain(|lane| lanes.contains(lane));
            }
        }
        self.between.forget_lanes(|lane| !lanes.contains(lane));
        self.value_waits.retain(|&lane, _| lanes.contains(lane));
        self.stream_attributes.retain(|&lane, _| lanes.contains(lane));
        for item in queue.items.values_mut() {
            item.clock.retain(|lane| lanes.contains(lane));
        }
        self.lanes.prune();
    }

    /// Gives an allocation's bytes back.
    pub(crate) fn release(&mut self, memory: BufferId) {
        if self.settle_memory(memory) {
            return;
        }
        self.lose_waits(memory);
        self.between.forget(memory);
        if let Some((base, size)) = self.registry.remove_alias(memory) {
            crate::driver::host_memory::unmap(base, size);
        }
        let Some(allocation) = self.registry.remove(memory) else { return };
        match allocation.kind {
            MemoryKind::Device | MemoryKind::Array => self.space.free(allocation.base),
            MemoryKind::Variable(VariableSpace::Global | VariableSpace::Constant) => {
                self.space.free(allocation.base);
            }
            // A pool keeps its bytes: they were set aside.
            MemoryKind::Pool | MemoryKind::Imported | MemoryKind::Registered => {}
            // They end with their handles and mappings.
            MemoryKind::Virtual | MemoryKind::Physical => {}
            MemoryKind::Managed | MemoryKind::Variable(VariableSpace::Managed) => {
                self.managed.remove(memory);
                crate::driver::host_memory::unmap(allocation.base, allocation.size);
            }
            MemoryKind::Host => {
                self.protection.remove(allocation.base);
                crate::driver::host_memory::unmap(allocation.base, allocation.size);
            }
        }
    }

    pub(crate) fn report(&self) -> Report {
        Report {
            findings: self.findings.all().to_vec(),
            left_out: self.findings.left_out(),
            pending: self.queue.items.len(),
            order: self.queue.order,
        }
    }
}
