//! The formats of arrays, and how large arrays may be: those of an H200 (*manual*).

use std::ffi::{c_int, c_uint};

use cuda_sys::{
    CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_LAYERED,
    CUDA_ARRAY3D_TEXTURE_GATHER, CUarray_format, CUdevice_attribute, CUresult,
};

use crate::engine::raw::Extent;
use crate::entry::INVALID_VALUE;

/// Returns how many bytes an element of so many channels has.
///
/// Formats of blocks and of planes are not supported.
pub(crate) fn element(format: CUarray_format, channels: c_uint) -> Result<usize, CUresult> {
    use CUarray_format as F;
    let (bytes, wanted) = match format {
        F::CU_AD_FORMAT_UNSIGNED_INT8 | F::CU_AD_FORMAT_SIGNED_INT8 => (1, None),
        F::CU_AD_FORMAT_UNSIGNED_INT16 | F::CU_AD_FORMAT_SIGNED_INT16 | F::CU_AD_FORMAT_HALF => {
            (2, None)
        }
        F::CU_AD_FORMAT_UNSIGNED_INT32 | F::CU_AD_FORMAT_SIGNED_INT32 | F::CU_AD_FORMAT_FLOAT => {
            (4, None)
        }
        F::CU_AD_FORMAT_UNORM_INT8X1 | F::CU_AD_FORMAT_SNORM_INT8X1 => (1, Some(1)),
        F::CU_AD_FORMAT_UNORM_INT8X2 | F::CU_AD_FORMAT_SNORM_INT8X2 => (1, Some(2)),
        F::CU_AD_FORMAT_UNORM_INT8X4 | F::CU_AD_FORMAT_SNORM_INT8X4 => (1, Some(4)),
        F::CU_AD_FORMAT_UNORM_INT16X1 | F::CU_AD_FORMAT_SNORM_INT16X1 => (2, Some(1)),
        F::CU_AD_FORMAT_UNORM_INT16X2 | F::CU_AD_FORMAT_SNORM_INT16X2 => (2, Some(2)),
        F::CU_AD_FORMAT_UNORM_INT16X4 | F::CU_AD_FORMAT_SNORM_INT16X4 => (2, Some(4)),
        F(number) if F::CONSTANTS.iter().any(|&(_, known)| known == number) => {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        _ => return Err(INVALID_VALUE),
    };
    if ![1, 2, 4].contains(&channels) || wanted.is_some_and(|wanted| wanted != channels) {
        return Err(INVALID_VALUE);
    }
    let channels = usize::try_from(channels).map_err(|_| INVALID_VALUE)?;
    Ok(bytes * channels)
}

/// Returns how many bytes, rows and slices an array has of which a descriptor tells.
pub(crate) fn extent(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> Result<Extent, CUresult> {
    let &CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, .. } = descriptor;
    let has = |flag| descriptor.Flags & flag != 0;
    let (layered, cubemap) = (has(CUDA_ARRAY3D_LAYERED), has(CUDA_ARRAY3D_CUBEMAP));
    let is_cube = width == height && if layered { depth.is_multiple_of(6) } else { depth == 6 };
    let limits = match (layered, cubemap) {
        (true, true) => [32768, 32768, 2046],
        (false, true) => [32768, 32768, 6],
        (true, false) if height == 0 => [32768, 0, 2048],
        (true, false) => [32768, 32768, 2048],
        (false, false) if depth != 0 => [16384, 16384, 16384],
        (false, false) if has(CUDA_ARRAY3D_TEXTURE_GATHER) => [32768, 32768, 0],
        (false, false) => [131_072, 65536, 0],
    };
    let is_shaped = width != 0
        // Slices that are no layers have rows.
        && (height != 0 || depth == 0 || layered)
        && (depth != 0 || !layered)
        && (!cubemap || is_cube && depth != 0)
        && !(has(CUDA_ARRAY3D_TEXTURE_GATHER) && (height == 0 || depth != 0));
    let is_small = [width, height, depth].iter().zip(limits).all(|(&size, limit)| size <= limit);
    if !is_shaped || !is_small {
        return Err(INVALID_VALUE);
    }
    let bytes = width * element(descriptor.Format, descriptor.NumChannels)?;
    Ok(Extent { width: bytes, height: height.max(1), depth: depth.max(1) })
}

/// Returns the attribute of a device that says how large arrays and textures may be.
pub(crate) const fn limit(attribute: CUdevice_attribute) -> Option<c_int> {
    use CUdevice_attribute as A;
    Some(match attribute {
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH => 131_072,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT => 65536,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH => 16384,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT => 32768,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS => 2048,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
        | A::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS => 2046,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH => 1 << 28,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT => 65000,
        A::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH => 2_097_120,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_LAYERED,
        CUDA_ARRAY3D_TEXTURE_GATHER, CUarray_format, Extent, element, extent,
    };

    #[test]
    fn elements_have_one_two_or_four_channels() {
        use CUarray_format as F;
        assert_eq!(element(F::CU_AD_FORMAT_FLOAT, 4), Ok(16));
        assert_eq!(element(F::CU_AD_FORMAT_HALF, 2), Ok(4));
        assert_eq!(element(F::CU_AD_FORMAT_UNORM_INT8X4, 4), Ok(4));
        for (format, channels, code) in [
            (F::CU_AD_FORMAT_FLOAT, 3, 1),
            (F::CU_AD_FORMAT_FLOAT, 0, 1),
            (F::CU_AD_FORMAT_UNORM_INT8X4, 2, 1),
            (F(77), 1, 1),
            (F::CU_AD_FORMAT_NV12, 3, 801),
        ] {
            assert_eq!(element(format, channels).unwrap_err().0, code, "{format:?} {channels}");
        }
    }

    #[test]
    fn extents_follow_the_flags() {
        let make = |[width, height, depth]: [usize; 3], flags| {
            let mut descriptor = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
            (descriptor.Width, descriptor.Height, descriptor.Depth) = (width, height, depth);
            descriptor.Format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16;
            descriptor.NumChannels = 1;
            descriptor.Flags = flags;
            extent(&descriptor)
        };
        let (layered, cubemap) = (CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_CUBEMAP);
        let gather = CUDA_ARRAY3D_TEXTURE_GATHER;
        assert_eq!(make([5, 0, 0], 0), Ok(Extent { width: 10, height: 1, depth: 1 }));
        assert_eq!(make([5, 0, 4], layered), Ok(Extent { width: 10, height: 1, depth: 4 }));
        for (size, flags) in [
            ([5, 3, 0], 0),
            ([5, 3, 2], 0),
            ([5, 3, 2], layered),
            ([4, 4, 6], cubemap),
            ([4, 4, 12], cubemap | layered),
            ([4, 4, 0], gather),
            ([131_072, 65536, 0], 0),
        ] {
            assert!(make(size, flags).is_ok(), "{size:?} {flags}");
        }
        for (size, flags) in [
            ([0, 0, 0], 0),
            ([5, 0, 2], 0),
            ([5, 3, 0], layered),
            ([4, 5, 6], cubemap),
            ([4, 4, 5], cubemap),
            ([4, 4, 7], cubemap | layered),
            ([4, 0, 0], gather),
            ([4, 4, 4], gather),
            ([131_073, 1, 0], 0),
            ([16385, 1, 1], 0),
            ([1, 1, 2049], layered),
        ] {
            assert!(make(size, flags).is_err(), "{size:?} {flags}");
        }
    }
}
