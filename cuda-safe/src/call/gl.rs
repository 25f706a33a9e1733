//! OpenGL interoperability. The calls need the thread's OpenGL context.
//!
//! Chapter: OpenGL Interoperability, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUGLDeviceList, CUdevice, CUgraphicsResource, GLenum, GLuint};

/// Lists the devices that draw for the thread's OpenGL context, as many as there is room for;
/// answers how many there are.
#[driver(cuGLGetDevices_v2, home = none)]
pub fn gl_get_devices(
    #[out] found @ pCudaDeviceCount: *mut c_uint,
    #[items(count, out)] devices @ pCudaDevices: *mut CUdevice,
    #[from(devices.count)] count @ cudaDeviceCount: c_uint,
    #[value] device_list @ deviceList: CUGLDeviceList,
);

/// Registers a buffer of OpenGL; whoever registers it undoes it.
#[driver(cuGraphicsGLRegisterBuffer, home = given)]
pub fn graphics_gl_register_buffer(
    #[out] cuda_resource @ pCudaResource: *mut CUgraphicsResource,
    #[value] buffer: GLuint,
    #[value] flags @ Flags: c_uint,
);

/// Registers a texture or a render buffer of OpenGL; whoever registers it undoes it.
#[driver(cuGraphicsGLRegisterImage, home = given)]
pub fn graphics_gl_register_image(
    #[out] cuda_resource @ pCudaResource: *mut CUgraphicsResource,
    #[value] image: GLuint,
    #[value] target: GLenum,
    #[value] flags @ Flags: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&GL_GET_DEVICES, &GRAPHICS_GL_REGISTER_BUFFER, &GRAPHICS_GL_REGISTER_IMAGE];
