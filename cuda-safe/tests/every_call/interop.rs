//! Calls of: egl, external, gl, graphics, surface_object, tensor_map, texture_object.

use cuda_safe::call;
use cuda_sys::{
    CUexternalMemory, CUexternalSemaphore, CUgraphicsResource, CUsurfObject, CUtexObject,
};

use crate::objects::{Objects, Tally, empty, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    egl(on, tally);
    external(on, tally);
    gl(on, tally);
    graphics(on, tally);
    surface_object(on, tally);
    tensor_map(on, tally);
    texture_object(on, tally);
}

fn egl(on: &mut Objects, tally: &mut Tally) {
    unchecked!(
        tally,
        "cuGraphicsEGLRegisterImage",
        call::graphics_egl_register_image(&on.context, nil(), zero())
    );
    run!(
        tally,
        "cuGraphicsResourceGetMappedEglFrame",
        call::graphics_resource_get_mapped_egl_frame(
            &nothing::<CUgraphicsResource>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuEventCreateFromEGLSync",
        call::event_create_from_egl_sync(&on.context, nil(), zero())
    );
    unchecked!(
        tally,
        "cuEGLStreamConsumerConnect",
        call::egl_stream_consumer_connect(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuEGLStreamConsumerConnectWithFlags",
        call::egl_stream_consumer_connect_with_flags(&on.context, nil(), zero())
    );
    unchecked!(
        tally,
        "cuEGLStreamConsumerDisconnect",
        call::egl_stream_consumer_disconnect(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuEGLStreamConsumerAcquireFrame",
        call::egl_stream_consumer_acquire_frame(&on.context, nil(), nil(), zero())
    );
    unchecked!(
        tally,
        "cuEGLStreamConsumerReleaseFrame",
        call::egl_stream_consumer_release_frame(&on.context, nil(), nil(), nil())
    );
    unchecked!(
        tally,
        "cuEGLStreamProducerConnect",
        call::egl_stream_producer_connect(&on.context, nil(), zero(), zero())
    );
    unchecked!(
        tally,
        "cuEGLStreamProducerDisconnect",
        call::egl_stream_producer_disconnect(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuEGLStreamProducerPresentFrame",
        call::egl_stream_producer_present_frame(&on.context, nil(), nil(), nil())
    );
    unchecked!(
        tally,
        "cuEGLStreamProducerReturnFrame",
        call::egl_stream_producer_return_frame(&on.context, nil(), nil(), nil())
    );
}

fn external(on: &mut Objects, tally: &mut Tally) {
    unchecked!(tally, "cuImportExternalMemory", call::import_external_memory(&on.context, nil()));
    unchecked!(tally, "cuDestroyExternalMemory", call::destroy_external_memory(&on.context, nil()));
    run!(
        tally,
        "cuExternalMemoryGetMappedBuffer",
        call::external_memory_get_mapped_buffer(&nothing::<CUexternalMemory>(&on.context), &zero())
    );
    run!(
        tally,
        "cuExternalMemoryGetMappedMipmappedArray",
        call::external_memory_get_mapped_mipmapped_array(
            &nothing::<CUexternalMemory>(&on.context),
            &zero()
        )
    );
    unchecked!(
        tally,
        "cuImportExternalSemaphore",
        call::import_external_semaphore(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuDestroyExternalSemaphore",
        call::destroy_external_semaphore(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuSignalExternalSemaphoresAsync",
        call::signal_external_semaphores_async(
            &[&nothing::<CUexternalSemaphore>(&on.context)],
            nil(),
            &on.stream
        )
    );
    unchecked!(
        tally,
        "cuWaitExternalSemaphoresAsync",
        call::wait_external_semaphores_async(
            &[&nothing::<CUexternalSemaphore>(&on.context)],
            nil(),
            &on.stream
        )
    );
}

fn gl(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuGLGetDevices_v2", call::gl_get_devices(&mut [empty()], zero()));
    run!(
        tally,
        "cuGraphicsGLRegisterBuffer",
        call::graphics_gl_register_buffer(&on.context, zero(), zero())
    );
    run!(
        tally,
        "cuGraphicsGLRegisterImage",
        call::graphics_gl_register_image(&on.context, zero(), zero(), zero())
    );
}

fn graphics(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuGraphicsMapResources",
        call::graphics_map_resources(&[&nothing::<CUgraphicsResource>(&on.context)], &on.stream)
    );
    unchecked!(
        tally,
        "cuGraphicsUnmapResources",
        call::graphics_unmap_resources(zero(), nil(), &on.stream)
    );
    run!(
        tally,
        "cuGraphicsResourceGetMappedPointer_v2",
        call::graphics_resource_get_mapped_pointer(&nothing::<CUgraphicsResource>(&on.context))
    );
    run!(
        tally,
        "cuGraphicsResourceGetMappedMipmappedArray",
        call::graphics_resource_get_mapped_mipmapped_array(&nothing::<CUgraphicsResource>(
            &on.context
        ))
    );
    run!(
        tally,
        "cuGraphicsSubResourceGetMappedArray",
        call::graphics_sub_resource_get_mapped_array(
            &nothing::<CUgraphicsResource>(&on.context),
            zero(),
            zero()
        )
    );
    run!(
        tally,
        "cuGraphicsResourceSetMapFlags_v2",
        call::graphics_resource_set_map_flags(&nothing::<CUgraphicsResource>(&on.context), zero())
    );
    unchecked!(
        tally,
        "cuGraphicsUnregisterResource",
        call::graphics_unregister_resource(&on.context, nil())
    );
}

fn surface_object(on: &mut Objects, tally: &mut Tally) {
    unchecked!(tally, "cuSurfObjectCreate", call::surf_object_create(&on.context, nil()));
    unchecked!(tally, "cuSurfObjectDestroy", call::surf_object_destroy(&on.context, nil()));
    run!(
        tally,
        "cuSurfObjectGetResourceDesc",
        call::surf_object_get_resource_desc(&on.context, &nothing::<CUsurfObject>(&on.context))
    );
}

fn tensor_map(_on: &mut Objects, tally: &mut Tally) {
    unchecked!(
        tally,
        "cuTensorMapEncodeTiled",
        call::tensor_map_encode_tiled(
            zero(),
            nil(),
            &[zero()],
            nil(),
            &[zero()],
            &[zero()],
            zero(),
            zero(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuTensorMapEncodeIm2col",
        call::tensor_map_encode_im2col(
            zero(),
            nil(),
            &[zero()],
            nil(),
            nil(),
            nil(),
            zero(),
            zero(),
            &[zero()],
            zero(),
            zero(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuTensorMapEncodeIm2colWide",
        call::tensor_map_encode_im2col_wide(
            zero(),
            nil(),
            &[zero()],
            nil(),
            zero(),
            zero(),
            zero(),
            zero(),
            &[zero()],
            zero(),
            zero(),
            zero(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuTensorMapReplaceAddress",
        call::tensor_map_replace_address(&mut zero(), nil())
    );
    run!(
        tally,
        "cuTensorMapSetAllocationClass",
        call::tensor_map_set_allocation_class(&mut zero(), zero())
    );
}

fn texture_object(on: &mut Objects, tally: &mut Tally) {
    unchecked!(
        tally,
        "cuTexObjectCreate",
        call::tex_object_create(&on.context, nil(), &zero(), None)
    );
    unchecked!(tally, "cuTexObjectDestroy", call::tex_object_destroy(&on.context, nil()));
    run!(
        tally,
        "cuTexObjectGetResourceDesc",
        call::tex_object_get_resource_desc(&on.context, &nothing::<CUtexObject>(&on.context))
    );
    run!(
        tally,
        "cuTexObjectGetResourceViewDesc",
        call::tex_object_get_resource_view_desc(&on.context, &nothing::<CUtexObject>(&on.context))
    );
    run!(
        tally,
        "cuTexObjectGetTextureDesc",
        call::tex_object_get_texture_desc(&on.context, &nothing::<CUtexObject>(&on.context))
    );
}
