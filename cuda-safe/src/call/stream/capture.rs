//! Stream capture.

use core::ffi::{c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphRecaptureCallback, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, CUstreamCigCaptureParams, cuuint64_t,
};

/// Begins to record what is enqueued on a stream, instead of running it.
///
/// # Safety
///
/// Every call on the stream until [`stream_end_capture`] knows that it is captured: its uses of
/// memory are the graph's.
#[driver(cuStreamBeginCapture_v2, home = given)]
pub unsafe fn stream_begin_capture(
    #[raw] stream @ hStream: CUstream,
    #[value] mode: CUstreamCaptureMode,
);

/// Begins to record what is enqueued on a stream into a graph.
///
/// # Safety
///
/// Every call on the stream until [`stream_end_capture`] knows that it is captured: its uses of
/// memory are the graph's.
#[driver(cuStreamBeginCaptureToGraph, home = given)]
pub unsafe fn stream_begin_capture_to_graph(
    #[raw] stream @ hStream: CUstream,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[items(count, value, optional)] edges @ dependencyData: *const CUgraphEdgeData,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[value] mode: CUstreamCaptureMode,
);

/// Begins to record what is enqueued on a stream over the nodes of a graph.
///
/// # Safety
///
/// As [`stream_begin_capture`]; the function may be called with the data until the capture
/// ends, and does not unwind.
#[driver(cuStreamBeginRecaptureToGraph, home = handle)]
pub unsafe fn stream_begin_recapture_to_graph(
    #[handle] stream @ hStream: CUstream,
    #[value] mode: CUstreamCaptureMode,
    #[handle] graph @ hGraph: CUgraph,
    #[raw] function @ callbackFunc: CUgraphRecaptureCallback,
    #[raw] data @ userData: *mut c_void,
);

/// Begins to record what is enqueued on a stream into a command list of a graphics interface.
///
/// # Safety
///
/// The parameters name a command list that is alive until the capture ends.
#[driver(cuStreamBeginCaptureToCig, home = handle)]
pub unsafe fn stream_begin_capture_to_cig(
    #[handle] stream @ hStream: CUstream,
    #[raw] parameters @ streamCigCaptureParams: *mut CUstreamCigCaptureParams,
);

/// Ends the recording, and returns the graph; whoever ends it destroys it.
#[driver(cuStreamEndCapture, home = handle)]
pub fn stream_end_capture(
    #[handle] stream @ hStream: CUstream,
    #[out] graph @ phGraph: *mut CUgraph,
);

/// Ends the recording into a command list of a graphics interface.
#[driver(cuStreamEndCaptureToCig, home = handle)]
pub fn stream_end_capture_to_cig(#[handle] stream @ hStream: CUstream);

/// Asks about the recording: its state, number, graph, and what comes next depends on. The
/// lists stay until the next call on the stream.
#[driver(cuStreamGetCaptureInfo_v3, home = handle)]
pub fn stream_get_capture_info(
    #[handle] stream @ hStream: CUstream,
    #[out] capture_status @ captureStatus_out: *mut CUstreamCaptureStatus,
    #[out] id @ id_out: *mut cuuint64_t,
    #[out] graph @ graph_out: *mut CUgraph,
    #[out] dependencies @ dependencies_out: *mut *const CUgraphNode,
    #[out] edges @ edgeData_out: *mut *const CUgraphEdgeData,
    #[out] num_dependencies @ numDependencies_out: *mut usize,
);

/// Asks about the recording; for drivers before CUDA 12.3.
#[driver(cuStreamGetCaptureInfo_v2, home = handle)]
pub fn stream_get_capture_info_v2(
    #[handle] stream @ hStream: CUstream,
    #[out] capture_status @ captureStatus_out: *mut CUstreamCaptureStatus,
    #[out] id @ id_out: *mut cuuint64_t,
    #[out] graph @ graph_out: *mut CUgraph,
    #[out] dependencies @ dependencies_out: *mut *const CUgraphNode,
    #[out] num_dependencies @ numDependencies_out: *mut usize,
);

/// Asks whether a stream is being recorded.
#[driver(cuStreamIsCapturing, home = handle)]
pub fn stream_is_capturing(
    #[handle] stream @ hStream: CUstream,
    #[out] capture_status @ captureStatus: *mut CUstreamCaptureStatus,
);

/// Changes what comes next in a recording depends on.
#[driver(cuStreamUpdateCaptureDependencies_v2, home = handle)]
pub fn stream_update_capture_dependencies(
    #[handle] stream @ hStream: CUstream,
    #[items(count, handle)] dependencies: *mut CUgraphNode,
    #[items(count, value, optional)] edges @ dependencyData: *const CUgraphEdgeData,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[value] flags: c_uint,
);

/// Exchanges what the thread may do while streams are recorded; the mode becomes the one
/// before.
#[driver(cuThreadExchangeStreamCaptureMode, home = none)]
pub fn thread_exchange_stream_capture_mode(#[record] mode: *mut CUstreamCaptureMode);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &STREAM_BEGIN_CAPTURE,
    &STREAM_BEGIN_CAPTURE_TO_GRAPH,
    &STREAM_BEGIN_RECAPTURE_TO_GRAPH,
    &STREAM_BEGIN_CAPTURE_TO_CIG,
    &STREAM_END_CAPTURE,
    &STREAM_END_CAPTURE_TO_CIG,
    &STREAM_GET_CAPTURE_INFO,
    &STREAM_GET_CAPTURE_INFO_V2,
    &STREAM_IS_CAPTURING,
    &STREAM_UPDATE_CAPTURE_DEPENDENCIES,
    &THREAD_EXCHANGE_STREAM_CAPTURE_MODE,
];
