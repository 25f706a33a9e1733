//! Gives an executable graph the parameters of another graph.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{
    CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphExecUpdateResultInfo, CUgraphNode,
    CUresult,
};

use crate::engine::handle::RawHandle;
use crate::entry::{Answer, Session, simulate};

/// Updates, and tells `told` how it went and which node was in the way.
fn update(
    mut session: Session,
    exec: CUgraphExec,
    graph: CUgraph,
    told: impl FnOnce(CUgraphExecUpdateResult, CUgraphNode),
) -> Answer {
    session.exec(exec.number())?;
    session.graph(graph.number())?;
    match session.update_exec(exec.number(), graph.number()) {
        Ok(()) => {
            let result = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS;
            told(result, std::ptr::null_mut());
            Ok(())
        }
        Err(mismatch) => {
            told(mismatch.result, CUgraphNode::from_number(mismatch.node));
            Err(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        }
    }
}

simulate! {
    /// Updates an executable graph.
    fn cuGraphExecUpdate(
        exec: val CUgraphExec, graph: val CUgraph, node: out CUgraphNode,
        result: out CUgraphExecUpdateResult,
    ) |session| {
        result.required()?;
        update(session, exec, graph, |how, wrong| {
            result.write(how);
            node.write(wrong);
        })
    }

    /// Updates an executable graph, and says more of what was in the way.
    fn cuGraphExecUpdate_v2(
        exec: val CUgraphExec, graph: val CUgraph, place: out CUgraphExecUpdateResultInfo,
    ) |session| {
        place.required()?;
        update(session, exec, graph, |result, errorNode| {
            let errorFromNode = std::ptr::null_mut();
            place.write(CUgraphExecUpdateResultInfo { result, errorNode, errorFromNode });
        })
    }
}
