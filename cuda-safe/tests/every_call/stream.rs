//! Calls of: event, memory_operation, stream.

use cuda_safe::call;
use cuda_sys::{CUgraph, CUgraphNode};

use crate::objects::{Objects, Tally, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    event(on, tally);
    memory_operation(on, tally);
    stream(on, tally);
}

fn event(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuEventCreate", call::event_create(&on.context, zero()));
    unchecked!(tally, "cuEventDestroy_v2", call::event_destroy(&on.context, nil()));
    run!(tally, "cuEventQuery", call::event_query(&on.event));
    run!(tally, "cuEventRecord", call::event_record(&on.event, &on.stream));
    run!(tally, "cuEventSynchronize", call::event_synchronize(&on.event));
    run!(tally, "cuEventElapsedTime_v2", call::event_elapsed_time(&on.event, &on.event));
    run!(tally, "cuEventElapsedTime", call::event_elapsed_time_v1(&on.event, &on.event));
    run!(
        tally,
        "cuEventRecordWithFlags",
        call::event_record_with_flags(&on.event, &on.stream, zero())
    );
}

fn memory_operation(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuStreamWaitValue32_v2",
        call::stream_wait_value32(&on.stream, &on.source, zero(), zero())
    );
    run!(
        tally,
        "cuStreamWaitValue64_v2",
        call::stream_wait_value64(&on.stream, &on.source, zero(), zero())
    );
    run!(
        tally,
        "cuStreamWriteValue32_v2",
        call::stream_write_value32(&on.stream, &on.source, zero(), zero())
    );
    run!(
        tally,
        "cuStreamWriteValue64_v2",
        call::stream_write_value64(&on.stream, &on.source, zero(), zero())
    );
    unchecked!(
        tally,
        "cuStreamBatchMemOp_v2",
        call::stream_batch_mem_op(&on.stream, zero(), nil(), zero())
    );
}

fn stream(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuStreamCreate", call::stream_create(&on.context, zero()));
    unchecked!(tally, "cuStreamDestroy_v2", call::stream_destroy(&on.context, nil()));
    run!(tally, "cuStreamQuery", call::stream_query(&on.stream));
    run!(tally, "cuStreamSynchronize", call::stream_synchronize(&on.stream));
    run!(tally, "cuStreamWaitEvent", call::stream_wait_event(&on.stream, &on.event));
    run!(
        tally,
        "cuStreamCreateWithPriority",
        call::stream_create_with_priority(&on.context, zero(), zero())
    );
    run!(tally, "cuStreamAddCallback", call::stream_add_callback(&on.stream, || ()));
    run!(
        tally,
        "cuStreamAttachMemAsync",
        call::stream_attach_mem_async(&on.stream, &mut on.target, zero())
    );
    run!(tally, "cuStreamCopyAttributes", call::stream_copy_attributes(&on.stream, &on.stream));
    run!(tally, "cuStreamGetAttribute", call::stream_get_attribute(&on.stream, zero()));
    unchecked!(
        tally,
        "cuStreamSetAttribute",
        call::stream_set_attribute(&on.stream, zero(), nil())
    );
    run!(tally, "cuStreamGetCtx_v2", call::stream_get_ctx(&on.stream));
    run!(tally, "cuStreamGetDevice", call::stream_get_device(&on.stream));
    run!(tally, "cuStreamGetFlags", call::stream_get_flags(&on.stream));
    run!(tally, "cuStreamGetId", call::stream_get_id(&on.stream));
    run!(tally, "cuStreamGetPriority", call::stream_get_priority(&on.stream));
    unchecked!(
        tally,
        "cuStreamBeginCapture_v2",
        call::stream_begin_capture(&on.context, nil(), zero())
    );
    unchecked!(
        tally,
        "cuStreamBeginCaptureToGraph",
        call::stream_begin_capture_to_graph(
            &on.context,
            nil(),
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &[zero()],
            zero()
        )
    );
    unchecked!(
        tally,
        "cuStreamBeginRecaptureToGraph",
        call::stream_begin_recapture_to_graph(
            &on.stream,
            zero(),
            &nothing::<CUgraph>(&on.context),
            nil(),
            nil()
        )
    );
    unchecked!(
        tally,
        "cuStreamBeginCaptureToCig",
        call::stream_begin_capture_to_cig(&on.stream, nil())
    );
    run!(tally, "cuStreamEndCapture", call::stream_end_capture(&on.stream));
    run!(tally, "cuStreamEndCaptureToCig", call::stream_end_capture_to_cig(&on.stream));
    run!(tally, "cuStreamGetCaptureInfo_v3", call::stream_get_capture_info(&on.stream));
    run!(tally, "cuStreamGetCaptureInfo_v2", call::stream_get_capture_info_v2(&on.stream));
    run!(tally, "cuStreamIsCapturing", call::stream_is_capturing(&on.stream));
    run!(
        tally,
        "cuStreamUpdateCaptureDependencies_v2",
        call::stream_update_capture_dependencies(
            &on.stream,
            &[&nothing::<CUgraphNode>(&on.context)],
            &[zero()],
            zero()
        )
    );
    run!(
        tally,
        "cuThreadExchangeStreamCaptureMode",
        call::thread_exchange_stream_capture_mode(&mut zero())
    );
}
