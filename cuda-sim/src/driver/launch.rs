//! Launches of kernels.
#![expect(non_snake_case, reason = "functions have the names of C")]

pub(crate) mod attribute;
pub(crate) mod parameter;

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use cuda_sys::{CUfunction, CUlaunchAttribute, CUlaunchConfig, CUresult, CUstream};

use crate::config::Feature;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::graph::parameters::Plain;
use crate::engine::handle::RawHandle;
use crate::engine::kernel::Shape;
use crate::engine::work::Work;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::{Finding, FindingKind, Side};

/// How many launches a queue holds: the next waits for the oldest (measured).
const QUEUE: usize = 1021;

/// Checks a launch and queues it. Its parameters are copied here.
fn launch(
    mut session: Session,
    function: CUfunction,
    (shape, attributes): (Shape, Vec<Plain<CUlaunchAttribute>>),
    stream: CUstream,
    [pointers, extra]: [&Out<*mut c_void>; 2],
) -> Answer {
    let call = session.call();
    let context = session.context()?;
    let (context, device) = (context.handle, context.device);
    let handle = session.function_handle(call, function.number())?;
    let lane = session.lane_for_work(stream)?;
    let found = session.function(call, handle)?;
    let (owner, module, entry) = (found.context, found.module, found.entry.clone());
    // Manual: of launches the stream must be of the current context.
    if session.lanes.get(lane).is_some_and(|lane| lane.context != context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if owner != context {
        let earlier = session.modules.modules.get(module).map(|module| module.made_by.clone());
        session.findings.add(Finding {
            kind: FindingKind::WrongContext,
            earlier,
            later: Side::new(call, "f"),
            subject: "the function is of another context than the current one".to_owned(),
        });
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if shape.cooperative && !session.has(device, Feature::CooperativeLaunch) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let parameters = parameter::parameters(&entry, pointers, extra)?;
    let mut kernel = session.prepare_kernel(call, handle, shape, &parameters)?;
    kernel.attributes = attributes.into();
    let mut session = make_room(session, lane)?;
    // Making room may have let other threads in.
    session.usable(context)?;
    if let Some(function) = session.modules.functions.get_mut(handle) {
        function.is_loaded = true;
    }
    let touches = kernel.touches.clone();
    session.submit(lane, &touches, Work::Kernel(Arc::new(kernel)))?;
    Ok(())
}

/// Waits for the oldest of a full queue's launches; nothing is known to be ordered by it.
fn make_room(session: Session, lane: LaneId) -> Result<Session, CUresult> {
    let kernels = session.kernels.keys().copied();
    let of_lane = |item: &u64| session.queue.items.get(item).is_some_and(|item| item.lane == lane);
    let mut queued = kernels.filter(of_lane);
    let oldest = queued.next();
    match oldest.filter(|_| queued.count() >= QUEUE - 1) {
        Some(oldest) => session.wait(&[oldest], &Clock::default()),
        None => Ok(session),
    }
}

simulate! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        function: val CUfunction, grid_x: val c_uint, grid_y: val c_uint, grid_z: val c_uint,
        block_x: val c_uint, block_y: val c_uint, block_z: val c_uint, shared: val c_uint,
        stream: val CUstream, parameters: out *mut c_void, extra: out *mut c_void,
    ) with cuLaunchKernel_ptsz |session| {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared: shared,
            ..Shape::default()
        };
        launch(session, function, (shape, Vec::new()), stream, [&parameters, &extra])
    }

    /// Launches a kernel with attributes.
    fn cuLaunchKernelEx(
        config: into CUlaunchConfig, function: val CUfunction, parameters: out *mut c_void,
        extra: out *mut c_void,
    ) with cuLaunchKernelEx_ptsz |session| {
        let config = config.read()?;
        if config.numAttrs > 0 && config.attrs.is_null() {
            return Err(INVALID_VALUE);
        }
        let shape = attribute::shape(&config)?;
        let attributes = attribute::of_node(&config)?;
        launch(session, function, (shape, attributes), config.hStream, [&parameters, &extra])
    }

    /// Launches a kernel of which all blocks run at the same time.
    fn cuLaunchCooperativeKernel(
        function: val CUfunction, grid_x: val c_uint, grid_y: val c_uint, grid_z: val c_uint,
        block_x: val c_uint, block_y: val c_uint, block_z: val c_uint, shared: val c_uint,
        stream: val CUstream, parameters: out *mut c_void,
    ) with cuLaunchCooperativeKernel_ptsz |session| {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared: shared,
            cooperative: true,
            ..Shape::default()
        };
        let extra = Out::of_attribute(std::ptr::null_mut());
        let attributes = vec![attribute::cooperative()];
        launch(session, function, (shape, attributes), stream, [&parameters, &extra])
    }
}
