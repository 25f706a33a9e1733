//! Nodes that run a kernel. They keep its parameters by value.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;
use std::sync::Arc;

use cuda_sys::{
    CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v3, CUcontext,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUkernel, CUkernelNodeAttrID,
    CUkernelNodeAttrValue, CUlaunchAttribute, CUresult,
};

use crate::config::Feature;
use crate::driver::graph::node::{operation_in, operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::driver::launch::{attribute, parameter};
use crate::engine::graph::parameters::Plain;
use crate::engine::graph::{Dependency, Operation};
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::kernel::{Shape, SharedKernel};
use crate::engine::work::Work;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

const KERNEL: CUgraphNodeType = CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;

type Attributes = Arc<[Plain<CUlaunchAttribute>]>;

/// Returns the parameters of a generic node as a kernel's.
pub(super) fn of_generic(generic: &CUDA_KERNEL_NODE_PARAMS_v3) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: generic.func,
        gridDimX: generic.gridDimX,
        gridDimY: generic.gridDimY,
        gridDimZ: generic.gridDimZ,
        blockDimX: generic.blockDimX,
        blockDimY: generic.blockDimY,
        blockDimZ: generic.blockDimZ,
        sharedMemBytes: generic.sharedMemBytes,
        kernelParams: generic.kernelParams,
        extra: generic.extra,
        kern: generic.kern,
        ctx: generic.ctx,
    }
}

/// Returns a kernel's parameters as those of a generic node.
pub(super) fn to_generic(parameters: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v3 {
    CUDA_KERNEL_NODE_PARAMS_v3 {
        func: parameters.func,
        gridDimX: parameters.gridDimX,
        gridDimY: parameters.gridDimY,
        gridDimZ: parameters.gridDimZ,
        blockDimX: parameters.blockDimX,
        blockDimY: parameters.blockDimY,
        blockDimZ: parameters.blockDimZ,
        sharedMemBytes: parameters.sharedMemBytes,
        kernelParams: parameters.kernelParams,
        extra: parameters.extra,
        kern: parameters.kern,
        ctx: parameters.ctx,
    }
}

fn of_first(first: &CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: first.func,
        gridDimX: first.gridDimX,
        gridDimY: first.gridDimY,
        gridDimZ: first.gridDimZ,
        blockDimX: first.blockDimX,
        blockDimY: first.blockDimY,
        blockDimZ: first.blockDimZ,
        sharedMemBytes: first.sharedMemBytes,
        kernelParams: first.kernelParams,
        extra: first.extra,
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    }
}

fn to_first(parameters: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: parameters.func,
        gridDimX: parameters.gridDimX,
        gridDimY: parameters.gridDimY,
        gridDimZ: parameters.gridDimZ,
        blockDimX: parameters.blockDimX,
        blockDimY: parameters.blockDimY,
        blockDimZ: parameters.blockDimZ,
        sharedMemBytes: parameters.sharedMemBytes,
        kernelParams: parameters.kernelParams,
        extra: parameters.extra,
    }
}

/// Makes the operation of what a call says, with attributes. Limits are those of a launch, and
/// no function answers 400 (*measured*).
pub(super) fn kernel(
    session: &mut Session,
    wanted: &CUDA_KERNEL_NODE_PARAMS,
    attributes: Attributes,
) -> Result<Operation, CUresult> {
    let call = session.call();
    session.named(wanted.ctx)?;
    let function = if wanted.func.is_null() { wanted.kern.number() } else { wanted.func.number() };
    let handle = session.function_handle(call, function)?;
    let entry = Arc::clone(&session.function(call, handle)?.entry);
    let pointers = Out::of_attribute(wanted.kernelParams.cast());
    let extra = Out::of_attribute(wanted.extra.cast());
    let bytes = parameter::parameters(&entry, &pointers, &extra)?;
    let shape = Shape {
        grid: [wanted.gridDimX, wanted.gridDimY, wanted.gridDimZ],
        block: [wanted.blockDimX, wanted.blockDimY, wanted.blockDimZ],
        dynamic_shared: wanted.sharedMemBytes,
        ..Shape::default()
    };
    prepare(session, handle, shape, &bytes, attributes)
}

/// Makes the operation of a function with a shape, to which attributes add.
fn prepare(
    session: &mut Session,
    function: Handle,
    mut shape: Shape,
    bytes: &[u8],
    attributes: Attributes,
) -> Result<Operation, CUresult> {
    let call = session.call();
    for Plain(each) in attributes.iter() {
        attribute::apply_to_node(&mut shape, each)?;
    }
    let context = session.function(call, function)?.context;
    session.usable(context)?;
    let device = session.contexts.get(context).ok_or(INVALID_VALUE)?.device;
    if shape.cooperative && !session.has(device, Feature::CooperativeLaunch) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    session.registry.sees_hidden = true;
    let mut kernel = session.prepare_kernel(call, function, shape, bytes)?;
    kernel.attributes = attributes;
    if let Some(function) = session.modules.functions.get_mut(function) {
        function.is_loaded = true;
    }
    let touches = kernel.touches.to_vec();
    Ok(Operation::task(Work::Kernel(Arc::new(kernel)), touches))
}

/// Returns the kernel of an operation.
fn kernel_of(operation: &Operation) -> Option<&SharedKernel> {
    match operation.work() {
        Some(Work::Kernel(kernel)) => Some(kernel),
        _ => None,
    }
}

/// Returns the attributes that an operation has, and keeps when its parameters change.
pub(super) fn attributes_of(operation: &Operation) -> Attributes {
    kernel_of(operation).map(|kernel| Arc::clone(&kernel.attributes)).unwrap_or_default()
}

/// Returns the parameters of a kernel. Their values are the node's, until it is changed.
pub(super) fn parameters(operation: &Operation) -> Option<CUDA_KERNEL_NODE_PARAMS> {
    let kernel = kernel_of(operation)?;
    let pointers: *const *mut c_void = kernel.pointers.as_ptr().cast();
    let kernelParams =
        if kernel.pointers.is_empty() { std::ptr::null_mut() } else { pointers.cast_mut() };
    let ([gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ]) =
        (kernel.arguments.grid, kernel.arguments.block);
    Some(CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction::from_number(kernel.function),
        gridDimX,
        gridDimY,
        gridDimZ,
        blockDimX,
        blockDimY,
        blockDimZ,
        sharedMemBytes: kernel.arguments.dynamic_shared,
        kernelParams,
        extra: std::ptr::null_mut(),
        kern: CUkernel::from_number(0),
        ctx: CUcontext::from_number(kernel.context),
    })
}

fn add(
    mut session: Session,
    (node, graph): (&Out<CUgraphNode>, CUgraph),
    before: Vec<Dependency>,
    wanted: &CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    node.required()?;
    session.graph(graph.number())?;
    let new = kernel(&mut session, wanted, Arc::default())?;
    add_node(&mut session, node, graph, before, new)
}

fn set(mut session: Session, node: CUgraphNode, wanted: &CUDA_KERNEL_NODE_PARAMS) -> Answer {
    let kept = attributes_of(&operation_of(&mut session, node, KERNEL)?);
    let new = kernel(&mut session, wanted, kept)?;
    replace(&mut session, node, new)
}

fn set_in(
    mut session: Session,
    exec: CUgraphExec,
    node: CUgraphNode,
    wanted: &CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    let kept = attributes_of(&operation_in(&mut session, exec, node)?);
    let new = kernel(&mut session, wanted, kept)?;
    replace_in(&mut session, exec, node, &new)
}

/// Gives a node other attributes; what its parameters are stays, and where they lie.
fn set_attributes(session: &mut Session, node: CUgraphNode, attributes: Attributes) -> Answer {
    let old = operation_of(session, node, KERNEL)?;
    let old = kernel_of(&old).ok_or(INVALID_VALUE)?;
    let arguments = &old.arguments;
    let shape = Shape {
        grid: arguments.grid,
        block: arguments.block,
        dynamic_shared: arguments.dynamic_shared,
        ..Shape::default()
    };
    let new = prepare(session, old.function, shape, &arguments.bytes, attributes)?;
    let mut kernel = kernel_of(&new).ok_or(INVALID_VALUE)?.as_ref().clone();
    kernel.arguments.bytes = Arc::clone(&arguments.bytes);
    kernel.pointers = Arc::clone(&old.pointers);
    let touches = kernel.touches.to_vec();
    replace(session, node, Operation::task(Work::Kernel(Arc::new(kernel)), touches))
}

simulate! {
    /// Adds a node that runs a kernel.
    fn cuGraphAddKernelNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_KERNEL_NODE_PARAMS_v1,
    ) |session| {
        let before = dependencies(&nodes, count)?;
        add(session, (&node, graph), before, &of_first(&parameters.read()?))
    }

    /// Adds a node that runs a function or a library's kernel.
    fn cuGraphAddKernelNode_v2(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_KERNEL_NODE_PARAMS,
    ) |session| {
        let before = dependencies(&nodes, count)?;
        add(session, (&node, graph), before, &parameters.read()?)
    }

    /// Tells what a node runs.
    fn cuGraphKernelNodeGetParams(node: val CUgraphNode, place: out CUDA_KERNEL_NODE_PARAMS_v1)
    |mut session| {
        place.required()?;
        let operation = operation_of(&mut session, node, KERNEL)?;
        place.write(to_first(&parameters(&operation).ok_or(INVALID_VALUE)?));
        Ok(())
    }

    /// Tells what a node runs, and where.
    fn cuGraphKernelNodeGetParams_v2(node: val CUgraphNode, place: out CUDA_KERNEL_NODE_PARAMS)
    |mut session| {
        place.required()?;
        let operation = operation_of(&mut session, node, KERNEL)?;
        place.write(parameters(&operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets what a node runs; its attributes stay.
    fn cuGraphKernelNodeSetParams(
        node: val CUgraphNode, parameters: into CUDA_KERNEL_NODE_PARAMS_v1,
    ) |session| {
        set(session, node, &of_first(&parameters.read()?))
    }

    /// Sets what a node runs; its attributes stay.
    fn cuGraphKernelNodeSetParams_v2(
        node: val CUgraphNode, parameters: into CUDA_KERNEL_NODE_PARAMS,
    ) |session| {
        set(session, node, &parameters.read()?)
    }

    /// Sets what a node of an executable graph runs.
    fn cuGraphExecKernelNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: into CUDA_KERNEL_NODE_PARAMS_v1,
    ) |session| {
        set_in(session, exec, node, &of_first(&parameters.read()?))
    }

    /// Sets what a node of an executable graph runs.
    fn cuGraphExecKernelNodeSetParams_v2(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: into CUDA_KERNEL_NODE_PARAMS,
    ) |session| {
        set_in(session, exec, node, &parameters.read()?)
    }

    /// Tells an attribute of a kernel.
    fn cuGraphKernelNodeGetAttribute(
        node: val CUgraphNode, id: val CUkernelNodeAttrID, value: out CUkernelNodeAttrValue,
    ) |mut session| {
        value.required()?;
        let attributes = attributes_of(&operation_of(&mut session, node, KERNEL)?);
        if !attribute::is_of_nodes(id) {
            return Err(INVALID_VALUE);
        }
        let found = attributes.iter().rev().find(|Plain(each)| each.id == id);
        value.write(found.map_or_else(|| attribute::default_of(id), |Plain(each)| each.value));
        Ok(())
    }

    /// Sets an attribute of a kernel.
    fn cuGraphKernelNodeSetAttribute(
        node: val CUgraphNode, id: val CUkernelNodeAttrID, value: into CUkernelNodeAttrValue,
    ) |mut session| {
        let old = attributes_of(&operation_of(&mut session, node, KERNEL)?);
        let others = old.iter().filter(|Plain(each)| each.id != id).copied();
        let attributes = others.chain([attribute::attribute(id, value.read()?)]).collect();
        set_attributes(&mut session, node, attributes)
    }

    /// Gives a kernel the attributes of another.
    fn cuGraphKernelNodeCopyAttributes(to: val CUgraphNode, from: val CUgraphNode)
    |mut session| {
        let attributes = attributes_of(&operation_of(&mut session, from, KERNEL)?);
        set_attributes(&mut session, to, attributes)
    }
}
