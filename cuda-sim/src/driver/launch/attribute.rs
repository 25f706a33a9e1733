//! The attributes of an extended launch.
//!
//! Unsafe, because an attribute's value is a union, of which the attribute's name says the member.

#![expect(unsafe_code, reason = "an attribute's value is a union")]

use cuda_sys::{CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUresult};

use crate::engine::kernel::Shape;
use crate::entry::{INVALID_VALUE, Out};

/// Is the shape and stream of an extended launch.
pub(crate) fn shape(config: &CUlaunchConfig) -> Result<Shape, CUresult> {
    let mut shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        dynamic_shared: config.sharedMemBytes,
        ..Shape::default()
    };
    let attributes: Out<CUlaunchAttribute> = Out::of_attribute(config.attrs.cast());
    for index in 0..usize::try_from(config.numAttrs).map_err(|_| INVALID_VALUE)? {
        apply(&mut shape, &attributes.read_at(index)?)?;
    }
    Ok(shape)
}

/// Applies an attribute. Those that let work overlap, or prefer something, change nothing; those that
/// record events are not simulated.
fn apply(shape: &mut Shape, attribute: &CUlaunchAttribute) -> Result<(), CUresult> {
    use CUlaunchAttributeID as A;
    match attribute.id {
        A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
            // SAFETY: the attribute says that this member is set.
            shape.cooperative = unsafe { attribute.value.cooperative } != 0;
        }
        A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
            // SAFETY: the attribute says that this member is set.
            let cluster = unsafe { attribute.value.clusterDim };
            shape.cluster = Some([cluster.x, cluster.y, cluster.z]);
        }
        A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
        | A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        | A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE => {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        other if A::CONSTANTS.iter().any(|&(_, known)| known == other.0) => {}
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}
