//! Kernels: what a launch has to be, and what happens when it runs.

pub(crate) mod limit;
pub(crate) mod occupancy;
pub(crate) mod race;
pub(crate) mod run;
pub(crate) mod trace;

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_sys::{CUlaunchAttribute, CUresult};

use crate::engine::access::AccessBox;
use crate::engine::graph::parameters::Plain;
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::engine::work::Touch;
use crate::kernel::{self, Arguments, Body};
use crate::report::{Finding, FindingKind, Side};

/// Is a kernel as it is queued: all that it needs to run, by value.
///
/// It outlives its function: what is queued runs though its module is unloaded, as unloading waits
/// for it. A graph's node keeps one, and gets another of [`State::prepare_kernel`] when it is changed.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) function: Handle,
    pub(crate) module: Handle,
    pub(crate) context: Handle,
    pub(crate) arguments: Arguments,
    /// Where in the arguments each parameter lies.
    pub(crate) pointers: Arc<[Plain<*mut c_void>]>,
    /// Whether all blocks run at the same time.
    pub(crate) cooperative: bool,
    /// The attributes that a graph's node has of it.
    pub(crate) attributes: Arc<[Plain<CUlaunchAttribute>]>,
    pub(crate) body: Body,
    /// What it declares to touch.
    pub(crate) touches: Arc<[Touch]>,
}

/// Is the shape that a launch asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// None leaves it to the kernel.
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) dynamic_shared: u32,
    pub(crate) cooperative: bool,
}

impl State {
    /// Checks a launch of a function with a block of parameters, which has the length that the
    /// function's image says; see [`State::function`].
    pub(crate) fn prepare_kernel(
        &mut self,
        call: &'static str,
        function: Handle,
        shape: Shape,
        parameters: &[u8],
    ) -> Result<Kernel, CUresult> {
        let found = self.function(call, function)?;
        let (entry, module, context) = (found.entry.clone(), found.module, found.context);
        let cluster = self.check_shape(function, &shape)?;
        if parameters.len() != entry.parameter_bytes() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let stand_in = || self.config.stand_in(&entry.name);
        let Some(body) = kernel::registered(&entry.name).or_else(stand_in) else {
            self.findings.add(Finding {
                kind: FindingKind::UnregisteredKernel,
                earlier: None,
                later: Side::new(call, "f"),
                subject: format!(
                    "kernel {0} does nothing: cuda_sim::kernel::register(\"{0}\", …) says what it does",
                    entry.name
                ),
            });
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        };
        let arguments = Arguments {
            entry,
            grid: shape.grid,
            block: shape.block,
            cluster,
            dynamic_shared: shape.dynamic_shared,
            bytes: parameters.into(),
        };
        let touches = self.touches_of(call, &arguments, &body)?;
        Ok(Kernel {
            function,
            module,
            context,
            pointers: pointers(&arguments),
            arguments,
            cooperative: shape.cooperative,
            attributes: Arc::default(),
            body,
            touches,
        })
    }

    /// Returns the accesses that a body declares, of memory that there is.
    fn touches_of(
        &mut self,
        call: &'static str,
        arguments: &Arguments,
        body: &Body,
    ) -> Result<Arc<[Touch]>, CUresult> {
        let declared = body.declared(arguments).map_err(|text| {
            self.findings.add(Finding {
                kind: FindingKind::KernelFailed,
                earlier: None,
                later: Side::new(call, operand(arguments, None)),
                subject: format!("what it touches can't be told: {text}"),
            });
            CUresult::CUDA_ERROR_INVALID_VALUE
        })?;
        let touches = declared.iter().filter_map(|access| {
            let area = AccessBox { base: self.registry.canonical(access.area.base), ..access.area };
            let memory = self.registry.find(area.base)?.id;
            let operand = operand(arguments, Some(access.parameter));
            Some(Touch { memory, kind: access.kind, area, operand })
        });
        Ok(touches.collect())
    }
}

/// Returns where each parameter lies in the block of them.
fn pointers(arguments: &Arguments) -> Arc<[Plain<*mut c_void>]> {
    let block = arguments.bytes.as_ptr();
    let parameters = arguments.entry.parameters.iter();
    parameters.map(|each| Plain(block.wrapping_add(each.offset).cast_mut().cast())).collect()
}

/// Names a kernel's parameter in a report.
pub(crate) fn operand(arguments: &Arguments, parameter: Option<usize>) -> &'static str {
    let name = arguments.name();
    match parameter {
        Some(index) => interned(format!("kernel {name}, parameter {index}")),
        None => interned(format!("kernel {name}")),
    }
}

/// Returns a text that is kept for good: reports name what there are few of.
fn interned(text: String) -> &'static str {
    static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    texts.insert(text);
    text
}

/// Is a queued kernel, shared by what holds it.
pub(crate) type SharedKernel = Arc<Kernel>;
