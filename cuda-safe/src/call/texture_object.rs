//! Texture objects.
//!
//! Chapter: Texture Object Management, whole.

use cuda_codegen::driver;
use cuda_sys::{CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUtexObject};

/// Makes a texture object; whoever makes it destroys it.
///
/// # Safety
///
/// The resource names an array or memory of `context` that is alive while the object is.
#[driver(cuTexObjectCreate, home = given)]
pub unsafe fn tex_object_create(
    #[out] tex_object @ pTexObject: *mut CUtexObject,
    #[raw] resource @ pResDesc: *const CUDA_RESOURCE_DESC,
    #[record] texture @ pTexDesc: *const CUDA_TEXTURE_DESC,
    #[record(optional)] view @ pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
);

/// Destroys a texture object.
///
/// # Safety
///
/// The object is of `context`, alive, and no kernel uses it any more.
#[driver(cuTexObjectDestroy, home = given)]
pub unsafe fn tex_object_destroy(#[raw] object @ texObject: CUtexObject);

/// Asks for the resource of a texture object.
#[driver(cuTexObjectGetResourceDesc, home = given)]
pub fn tex_object_get_resource_desc(
    #[out] resource @ pResDesc: *mut CUDA_RESOURCE_DESC,
    #[handle] object @ texObject: CUtexObject,
);

/// Asks for the view of a texture object's resource.
#[driver(cuTexObjectGetResourceViewDesc, home = given)]
pub fn tex_object_get_resource_view_desc(
    #[out] view @ pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC,
    #[handle] object @ texObject: CUtexObject,
);

/// Asks how a texture object is sampled.
#[driver(cuTexObjectGetTextureDesc, home = given)]
pub fn tex_object_get_texture_desc(
    #[out] texture @ pTexDesc: *mut CUDA_TEXTURE_DESC,
    #[handle] object @ texObject: CUtexObject,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &TEX_OBJECT_CREATE,
    &TEX_OBJECT_DESTROY,
    &TEX_OBJECT_GET_RESOURCE_DESC,
    &TEX_OBJECT_GET_RESOURCE_VIEW_DESC,
    &TEX_OBJECT_GET_TEXTURE_DESC,
];
