//! Members of C's unions, read as the tags beside them say.
//!
//! Unsafe, because only the tag says which member a program has set. Every union read here holds
//! integers, addresses and handles, whose bytes are values whatever was set.

#![expect(unsafe_code, reason = "a union's member is read as its tag says")]

use std::ffi::c_int;

use cuda_sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_DESC_v1_res as ResourceUnion,
    CUDA_RESOURCE_DESC_v1_res_array as ResourceArray,
    CUDA_RESOURCE_DESC_v1_res_linear as ResourceLinear,
    CUDA_RESOURCE_DESC_v1_res_mipmap as ResourceMipmap,
    CUDA_RESOURCE_DESC_v1_res_pitch2D as ResourceRows, CUarray, CUdeviceptr, CUmemLocation,
    CUmipmappedArray, CUresourcetype, CUresult,
};

use crate::engine::handle::RawHandle;
use crate::engine::image::Resource;
use crate::entry::INVALID_VALUE;

/// Returns the number that goes with a location's type.
pub(crate) const fn location_id(location: &CUmemLocation) -> c_int {
    // SAFETY: all members are integers, and a record from C is initialised as a whole.
    unsafe { location.id() }
}

/// Reads what a texture or surface object shows.
pub(crate) fn resource(description: &CUDA_RESOURCE_DESC) -> Result<Resource, CUresult> {
    use CUresourcetype as T;
    Ok(match description.resType {
        T::CU_RESOURCE_TYPE_ARRAY => {
            // SAFETY: the tag says that it is an array.
            let array = unsafe { description.res.array };
            Resource::Array(array.hArray.number())
        }
        T::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
            // SAFETY: the tag says that it is a mipmapped array.
            let mipmap = unsafe { description.res.mipmap };
            Resource::Mipmap(mipmap.hMipmappedArray.number())
        }
        T::CU_RESOURCE_TYPE_LINEAR => {
            // SAFETY: the tag says that it is linear memory.
            let linear = unsafe { description.res.linear };
            Resource::Linear {
                address: linear.devPtr.0,
                format: linear.format,
                channels: linear.numChannels,
                bytes: linear.sizeInBytes,
            }
        }
        T::CU_RESOURCE_TYPE_PITCH2D => {
            // SAFETY: the tag says that it is rows.
            let rows = unsafe { description.res.pitch2D };
            Resource::Rows {
                address: rows.devPtr.0,
                format: rows.format,
                channels: rows.numChannels,
                width: rows.width,
                height: rows.height,
                pitch: rows.pitchInBytes,
            }
        }
        _ => return Err(INVALID_VALUE),
    })
}

/// Describes what a texture or surface object shows.
pub(crate) fn description(resource: Resource) -> CUDA_RESOURCE_DESC {
    use CUresourcetype as T;
    let (kind, res) = match resource {
        Resource::Array(array) => {
            let array = ResourceArray { hArray: CUarray::from_number(array) };
            (T::CU_RESOURCE_TYPE_ARRAY, ResourceUnion { array })
        }
        Resource::Mipmap(mipmap) => {
            let mipmap = ResourceMipmap { hMipmappedArray: CUmipmappedArray::from_number(mipmap) };
            (T::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, ResourceUnion { mipmap })
        }
        Resource::Linear { address, format, channels, bytes } => {
            let linear = ResourceLinear {
                devPtr: CUdeviceptr(address),
                format,
                numChannels: channels,
                sizeInBytes: bytes,
            };
            (T::CU_RESOURCE_TYPE_LINEAR, ResourceUnion { linear })
        }
        Resource::Rows { address, format, channels, width, height, pitch } => {
            let rows = ResourceRows {
                devPtr: CUdeviceptr(address),
                format,
                numChannels: channels,
                width,
                height,
                pitchInBytes: pitch,
            };
            (T::CU_RESOURCE_TYPE_PITCH2D, ResourceUnion { pitch2D: rows })
        }
    };
    CUDA_RESOURCE_DESC { resType: kind, res, flags: 0 }
}
