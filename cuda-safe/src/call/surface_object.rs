//! Surface objects.
//!
//! Chapter: Surface Object Management, whole.

use cuda_codegen::driver;
use cuda_sys::{CUDA_RESOURCE_DESC, CUsurfObject};

/// Makes a surface object; whoever makes it destroys it.
///
/// # Safety
///
/// The resource names an array of `context` that is alive while the object is.
#[driver(cuSurfObjectCreate, home = given)]
pub unsafe fn surf_object_create(
    #[out] surf_object @ pSurfObject: *mut CUsurfObject,
    #[raw] resource @ pResDesc: *const CUDA_RESOURCE_DESC,
);

/// Destroys a surface object.
///
/// # Safety
///
/// The object is of `context`, alive, and no kernel uses it any more.
#[driver(cuSurfObjectDestroy, home = given)]
pub unsafe fn surf_object_destroy(#[raw] object @ surfObject: CUsurfObject);

/// Asks for the resource of a surface object.
#[driver(cuSurfObjectGetResourceDesc, home = given)]
pub fn surf_object_get_resource_desc(
    #[out] resource @ pResDesc: *mut CUDA_RESOURCE_DESC,
    #[handle] object @ surfObject: CUsurfObject,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&SURF_OBJECT_CREATE, &SURF_OBJECT_DESTROY, &SURF_OBJECT_GET_RESOURCE_DESC];
