//! Every annotated call's contract, page by page.

use super::{
    context, coredump, device, egl, error, event, execution, external, gl, graph, graphics,
    green_context, initialization, library, memory, memory_operation, module, multicast, occupancy,
    peer, pool, primary_context, profiler, stream, surface_object, tensor_map, texture_object,
    unified, version, virtual_memory,
};
use crate::shim::Contract;

const PAGES: &[&[&Contract]] = &[
    context::PAGE,
    context::state::PAGE,
    coredump::PAGE,
    device::PAGE,
    device::resource::PAGE,
    egl::PAGE,
    error::PAGE,
    event::PAGE,
    event::timing::PAGE,
    execution::PAGE,
    execution::function::PAGE,
    execution::launch::PAGE,
    external::PAGE,
    gl::PAGE,
    graph::execution::PAGE,
    graph::node::PAGE,
    graph::whole::PAGE,
    graph::work::PAGE,
    graphics::PAGE,
    green_context::PAGE,
    initialization::PAGE,
    library::PAGE,
    memory::allocation::PAGE,
    memory::array::PAGE,
    memory::array_copy::PAGE,
    memory::fill::PAGE,
    memory::ipc::PAGE,
    memory::rows::PAGE,
    memory::runs::PAGE,
    memory::unified_copy::PAGE,
    memory::volumes::PAGE,
    memory_operation::PAGE,
    module::PAGE,
    multicast::PAGE,
    occupancy::PAGE,
    peer::PAGE,
    pool::PAGE,
    primary_context::PAGE,
    primary_context::state::PAGE,
    profiler::PAGE,
    stream::PAGE,
    stream::attributes::PAGE,
    stream::capture::PAGE,
    surface_object::PAGE,
    tensor_map::PAGE,
    texture_object::PAGE,
    unified::PAGE,
    unified::memory::PAGE,
    version::PAGE,
    virtual_memory::PAGE,
];

/// Lists every annotated call's contract.
pub fn contracts() -> impl Iterator<Item = &'static Contract> {
    PAGES.iter().copied().flatten().copied()
}
