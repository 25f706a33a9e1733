//! EGL interoperability.
//!
//! Chapter: EGL Interoperability, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{
    CUeglFrame, CUeglStreamConnection, CUevent, CUgraphicsResource, CUstream, EGLImageKHR,
    EGLStreamKHR, EGLSyncKHR, EGLint,
};

/// Registers an image of EGL; whoever registers it undoes it.
///
/// # Safety
///
/// The image is one of EGL's, and alive until the registration is undone.
#[driver(cuGraphicsEGLRegisterImage, home = given)]
pub unsafe fn graphics_egl_register_image(
    #[out] cuda_resource @ pCudaResource: *mut CUgraphicsResource,
    #[raw] image: EGLImageKHR,
    #[value] flags: c_uint,
);

/// Returns the frame that a mapped resource is.
#[driver(cuGraphicsResourceGetMappedEglFrame, home = handle)]
pub fn graphics_resource_get_mapped_egl_frame(
    #[out] egl_frame @ eglFrame: *mut CUeglFrame,
    #[handle] resource: CUgraphicsResource,
    #[value] index: c_uint,
    #[value] level @ mipLevel: c_uint,
);

/// Makes an event of a fence of EGL; whoever makes it destroys it.
///
/// # Safety
///
/// The fence is one of EGL's, and alive until the event is destroyed.
#[driver(cuEventCreateFromEGLSync, home = given)]
pub unsafe fn event_create_from_egl_sync(
    #[out] event @ phEvent: *mut CUevent,
    #[raw] egl_sync @ eglSync: EGLSyncKHR,
    #[value] flags: c_uint,
);

/// Connects to a stream of EGL, to take frames.
///
/// # Safety
///
/// The stream is one of EGL's, alive until the connection ends.
#[driver(cuEGLStreamConsumerConnect, home = given)]
pub unsafe fn egl_stream_consumer_connect(
    #[out] connection @ conn: *mut CUeglStreamConnection,
    #[raw] egl_stream @ stream: EGLStreamKHR,
);

/// Connects to a stream of EGL, to take frames, as the flags say.
///
/// # Safety
///
/// The stream is one of EGL's, alive until the connection ends.
#[driver(cuEGLStreamConsumerConnectWithFlags, home = given)]
pub unsafe fn egl_stream_consumer_connect_with_flags(
    #[out] connection @ conn: *mut CUeglStreamConnection,
    #[raw] egl_stream @ stream: EGLStreamKHR,
    #[value] flags: c_uint,
);

/// Ends a connection that takes frames.
///
/// # Safety
///
/// The connection is one that takes frames, and every frame was given back.
#[driver(cuEGLStreamConsumerDisconnect, home = given)]
pub unsafe fn egl_stream_consumer_disconnect(#[raw] connection @ conn: *mut CUeglStreamConnection);

/// Takes a frame.
///
/// # Safety
///
/// The connection is one that takes frames; the stream is null or points to one.
#[driver(cuEGLStreamConsumerAcquireFrame, home = given)]
pub unsafe fn egl_stream_consumer_acquire_frame(
    #[raw] connection @ conn: *mut CUeglStreamConnection,
    #[out] resource @ pCudaResource: *mut CUgraphicsResource,
    #[raw] stream @ pStream: *mut CUstream,
    #[value] timeout: c_uint,
);

/// Gives a frame back.
///
/// # Safety
///
/// The frame is of the connection, and no work uses it but what is on the stream; the stream is
/// null or points to one.
#[driver(cuEGLStreamConsumerReleaseFrame, home = given)]
pub unsafe fn egl_stream_consumer_release_frame(
    #[raw] connection @ conn: *mut CUeglStreamConnection,
    #[raw] resource @ pCudaResource: CUgraphicsResource,
    #[raw] stream @ pStream: *mut CUstream,
);

/// Connects to a stream of EGL, to present frames.
///
/// # Safety
///
/// The stream is one of EGL's, alive until the connection ends.
#[driver(cuEGLStreamProducerConnect, home = given)]
pub unsafe fn egl_stream_producer_connect(
    #[out] connection @ conn: *mut CUeglStreamConnection,
    #[raw] egl_stream @ stream: EGLStreamKHR,
    #[value] width: EGLint,
    #[value] height: EGLint,
);

/// Ends a connection that presents frames.
///
/// # Safety
///
/// The connection is one that presents frames.
#[driver(cuEGLStreamProducerDisconnect, home = given)]
pub unsafe fn egl_stream_producer_disconnect(#[raw] connection @ conn: *mut CUeglStreamConnection);

/// Presents a frame.
///
/// # Safety
///
/// The frame names memory or arrays that are alive until it is returned; the stream is null or
/// points to one.
#[driver(cuEGLStreamProducerPresentFrame, home = given)]
pub unsafe fn egl_stream_producer_present_frame(
    #[raw] connection @ conn: *mut CUeglStreamConnection,
    #[raw] frame @ eglframe: CUeglFrame,
    #[raw] stream @ pStream: *mut CUstream,
);

/// Takes a presented frame back.
///
/// # Safety
///
/// The frame points to room for one; the stream is null or points to one.
#[driver(cuEGLStreamProducerReturnFrame, home = given)]
pub unsafe fn egl_stream_producer_return_frame(
    #[raw] connection @ conn: *mut CUeglStreamConnection,
    #[raw] frame @ eglframe: *mut CUeglFrame,
    #[raw] stream @ pStream: *mut CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPHICS_EGL_REGISTER_IMAGE,
    &GRAPHICS_RESOURCE_GET_MAPPED_EGL_FRAME,
    &EVENT_CREATE_FROM_EGL_SYNC,
    &EGL_STREAM_CONSUMER_CONNECT,
    &EGL_STREAM_CONSUMER_CONNECT_WITH_FLAGS,
    &EGL_STREAM_CONSUMER_DISCONNECT,
    &EGL_STREAM_CONSUMER_ACQUIRE_FRAME,
    &EGL_STREAM_CONSUMER_RELEASE_FRAME,
    &EGL_STREAM_PRODUCER_CONNECT,
    &EGL_STREAM_PRODUCER_DISCONNECT,
    &EGL_STREAM_PRODUCER_PRESENT_FRAME,
    &EGL_STREAM_PRODUCER_RETURN_FRAME,
];
