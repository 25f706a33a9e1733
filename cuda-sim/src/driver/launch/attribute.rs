//! The attributes of an extended launch, and of a graph's kernel.
//!
//! Unsafe, because an attribute's value is a union, of which the attribute's name says the member.

#![expect(unsafe_code, reason = "an attribute's value is a union")]

use cuda_sys::{
    CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig, CUresult,
};

use crate::driver::unions::{StreamAttribute, stream_attribute, write_stream_attribute};
use crate::engine::graph::parameters::Plain;
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
    read(config)?.iter().try_for_each(|attribute| apply(&mut shape, attribute))?;
    Ok(shape)
}

fn read(config: &CUlaunchConfig) -> Result<Vec<CUlaunchAttribute>, CUresult> {
    let attributes: Out<CUlaunchAttribute> = Out::of_attribute(config.attrs.cast());
    let count = usize::try_from(config.numAttrs).map_err(|_| INVALID_VALUE)?;
    (0..count).map(|index| attributes.read_at(index)).collect()
}

/// Returns the attributes of an extended launch that a graph's node keeps.
pub(crate) fn of_node(config: &CUlaunchConfig) -> Result<Vec<Plain<CUlaunchAttribute>>, CUresult> {
    let mut attributes = read(config)?;
    attributes.retain(|attribute| is_of_nodes(attribute.id));
    Ok(attributes.into_iter().map(Plain).collect())
}

/// Tells whether a graph's kernel has that attribute (*manual*).
pub(crate) fn is_of_nodes(id: CUlaunchAttributeID) -> bool {
    use CUlaunchAttributeID as A;
    [
        A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        A::CU_LAUNCH_ATTRIBUTE_PRIORITY,
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
        A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    ]
    .contains(&id)
}

/// Returns an attribute with a value.
pub(crate) fn attribute(
    id: CUlaunchAttributeID,
    value: CUlaunchAttributeValue,
) -> Plain<CUlaunchAttribute> {
    Plain(CUlaunchAttribute { id, pad: [0; 4], value })
}

/// Returns the attribute of a launch of which all blocks run at the same time.
pub(crate) fn cooperative() -> Plain<CUlaunchAttribute> {
    let value = CUlaunchAttributeValue { cooperative: 1 };
    attribute(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value)
}

/// Returns the value of an attribute of a graph's kernel that was not set.
pub(crate) fn default_of(id: CUlaunchAttributeID) -> CUlaunchAttributeValue {
    if id == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT {
        return CUlaunchAttributeValue { sharedMemCarveout: u32::MAX };
    }
    let default = StreamAttribute::default_of(id).map(write_stream_attribute);
    default.unwrap_or_else(CUlaunchAttributeValue::zeroed)
}

/// Checks an attribute that streams have too.
fn check_value(attribute: &CUlaunchAttribute) -> Result<(), CUresult> {
    if StreamAttribute::default_of(attribute.id).is_none() {
        return Ok(());
    }
    let value = stream_attribute(attribute.id, &attribute.value)?;
    if value.is_allowed() { Ok(()) } else { Err(INVALID_VALUE) }
}

/// Applies an attribute of a graph's kernel, if it has such a one.
pub(crate) fn apply_to_node(
    shape: &mut Shape,
    attribute: &CUlaunchAttribute,
) -> Result<(), CUresult> {
    if !is_of_nodes(attribute.id) {
        return Err(INVALID_VALUE);
    }
    check_value(attribute)?;
    apply(shape, attribute)
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
