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
    CUDA_RESOURCE_DESC_v1_res_pitch2D as ResourceRows, CUaccessPolicyWindow, CUaccessProperty,
    CUarray, CUdeviceptr, CUlaunchMemSyncDomain, CUlaunchMemSyncDomainMap, CUmemLocation,
    CUmemcpy3DOperand, CUmemcpy3DOperandType, CUmipmappedArray, CUresourcetype, CUresult,
    CUstreamAtomicReductionDataType, CUstreamAtomicReductionOpType, CUstreamAttrID,
    CUstreamAttrValue, CUstreamBatchMemOpParams, CUstreamBatchMemOpType,
    CUstreamMemOpWaitValueParams_st as CUstreamMemOpWaitValueParams,
    CUstreamMemOpWriteValueParams_st as CUstreamMemOpWriteValueParams, CUsynchronizationPolicy,
};

use crate::engine::handle::{Handle, RawHandle};
use crate::engine::image::Resource;
use crate::engine::raw::Word;
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

/// Is one end of a copy of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BoxOperand {
    /// Rows and layers are counted in elements.
    Memory {
        address: u64,
        row_length: usize,
        layer_height: usize,
    },
    Array {
        array: Handle,
        start: [usize; 3],
    },
}

/// Reads one end of a copy of a box.
pub(crate) fn box_operand(operand: &CUmemcpy3DOperand) -> Result<BoxOperand, CUresult> {
    use CUmemcpy3DOperandType as T;
    Ok(match operand.type_ {
        T::CU_MEMCPY_OPERAND_TYPE_POINTER => {
            // SAFETY: the tag says that it is an address.
            let memory = unsafe { operand.op.ptr };
            BoxOperand::Memory {
                address: memory.ptr.0,
                row_length: memory.rowLength,
                layer_height: memory.layerHeight,
            }
        }
        T::CU_MEMCPY_OPERAND_TYPE_ARRAY => {
            // SAFETY: the tag says that it is an array.
            let array = unsafe { operand.op.array };
            let offset = array.offset;
            BoxOperand::Array { array: array.array.number(), start: [offset.x, offset.y, offset.z] }
        }
        _ => return Err(INVALID_VALUE),
    })
}

/// Is an operation of a batch of memory operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MemoryOperation {
    Wait {
        address: CUdeviceptr,
        value: Word,
        flags: u32,
    },
    Write {
        address: CUdeviceptr,
        value: Word,
        flags: u32,
    },
    Barrier {
        flags: u32,
    },
    Flush,
    Reduce {
        address: CUdeviceptr,
        value: Word,
        operation: CUstreamAtomicReductionOpType,
        flags: u32,
    },
}

/// Reads an operation of a batch of memory operations.
pub(crate) fn memory_operation(
    given: &CUstreamBatchMemOpParams,
) -> Result<MemoryOperation, CUresult> {
    use CUstreamBatchMemOpType as T;
    // SAFETY: every member begins with it.
    let tag = unsafe { given.operation };
    Ok(match tag {
        T::CU_STREAM_MEM_OP_WAIT_VALUE_32 | T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
            // SAFETY: the tag says that it is a wait.
            let wait = unsafe { given.waitValue };
            // SAFETY: the word's bytes are a number, whichever of its lengths was set.
            let long = unsafe { wait.value64() };
            // SAFETY: as above.
            let short = unsafe { wait.value() };
            let is_long = tag == T::CU_STREAM_MEM_OP_WAIT_VALUE_64;
            let value = if is_long { Word::Long(long) } else { Word::Short(short) };
            MemoryOperation::Wait { address: wait.address, value, flags: wait.flags }
        }
        T::CU_STREAM_MEM_OP_WRITE_VALUE_32 | T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
            // SAFETY: the tag says that it is a write.
            let write = unsafe { given.writeValue };
            // SAFETY: the word's bytes are a number, whichever of its lengths was set.
            let long = unsafe { write.value64() };
            // SAFETY: as above.
            let short = unsafe { write.value() };
            let is_long = tag == T::CU_STREAM_MEM_OP_WRITE_VALUE_64;
            let value = if is_long { Word::Long(long) } else { Word::Short(short) };
            MemoryOperation::Write { address: write.address, value, flags: write.flags }
        }
        T::CU_STREAM_MEM_OP_BARRIER => {
            // SAFETY: the tag says that it is a barrier.
            let barrier = unsafe { given.memoryBarrier };
            MemoryOperation::Barrier { flags: barrier.flags }
        }
        T::CU_STREAM_MEM_OP_ATOMIC_REDUCTION => {
            // SAFETY: the tag says that it is a reduction.
            let reduce = unsafe { given.atomicReduction };
            use CUstreamAtomicReductionDataType as D;
            let value = match reduce.dataType {
                D::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 => Word::Long(reduce.value),
                // A short value stands in the lower half.
                D::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 => {
                    let lower = reduce.value & u64::from(u32::MAX);
                    Word::Short(u32::try_from(lower).unwrap_or(0))
                }
                _ => return Err(INVALID_VALUE),
            };
            MemoryOperation::Reduce {
                address: reduce.address,
                value,
                operation: reduce.reductionOp,
                flags: reduce.flags,
            }
        }
        T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => MemoryOperation::Flush,
        _ => return Err(INVALID_VALUE),
    })
}

/// Describes a wait for a word, or a write of one; other operations are described by programs only.
pub(crate) fn memory_parameters(operation: MemoryOperation) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpType as T;
    let mut parameters = CUstreamBatchMemOpParams::zeroed();
    match operation {
        MemoryOperation::Wait { address, value, flags } => {
            let mut wait = CUstreamMemOpWaitValueParams::zeroed();
            (wait.address, wait.flags) = (address, flags);
            wait.operation = match value {
                Word::Short(_) => T::CU_STREAM_MEM_OP_WAIT_VALUE_32,
                Word::Long(_) => T::CU_STREAM_MEM_OP_WAIT_VALUE_64,
            };
            wait.set_value64(value.bits());
            parameters.waitValue = wait;
        }
        MemoryOperation::Write { address, value, flags } => {
            let mut write = CUstreamMemOpWriteValueParams::zeroed();
            (write.address, write.flags) = (address, flags);
            write.operation = match value {
                Word::Short(_) => T::CU_STREAM_MEM_OP_WRITE_VALUE_32,
                Word::Long(_) => T::CU_STREAM_MEM_OP_WRITE_VALUE_64,
            };
            write.set_value64(value.bits());
            parameters.writeValue = write;
        }
        MemoryOperation::Barrier { .. }
        | MemoryOperation::Flush
        | MemoryOperation::Reduce { .. } => {}
    }
    parameters
}

/// Is the value of an attribute of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StreamAttribute {
    Window { base: usize, bytes: usize, hit_ratio: f32, hit: u32, miss: u32 },
    Policy(u32),
    Priority(c_int),
    DomainMap { default: u8, remote: u8 },
    Domain(u32),
}

impl StreamAttribute {
    /// Returns the value of an attribute that was not set; none if streams have no such attribute.
    pub(crate) const fn default_of(attribute: CUstreamAttrID) -> Option<Self> {
        use CUstreamAttrID as A;
        Some(match attribute {
            A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
                Self::Window { base: 0, bytes: 0, hit_ratio: 0.0, hit: 0, miss: 0 }
            }
            // Measured: it has none of the policies that can be set.
            A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => Self::Policy(u32::MAX),
            A::CU_LAUNCH_ATTRIBUTE_PRIORITY => Self::Priority(0),
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => Self::DomainMap { default: 0, remote: 1 },
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => Self::Domain(0),
            _ => return None,
        })
    }

    /// Tells whether the value has a meaning.
    pub(crate) fn is_allowed(self) -> bool {
        match self {
            Self::Window { hit_ratio, hit, miss, .. } => {
                // What misses cannot persist.
                (0.0..=1.0).contains(&hit_ratio) && hit <= 2 && miss <= 1
            }
            Self::Policy(policy) => (1..=4).contains(&policy),
            Self::Domain(domain) => domain <= 1,
            Self::Priority(_) | Self::DomainMap { .. } => true,
        }
    }
}

/// Reads the value of an attribute of a stream.
pub(crate) fn stream_attribute(
    attribute: CUstreamAttrID,
    value: &CUstreamAttrValue,
) -> Result<StreamAttribute, CUresult> {
    use CUstreamAttrID as A;
    Ok(match attribute {
        A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
            // SAFETY: the attribute says that it is a window.
            let window = unsafe { value.accessPolicyWindow };
            StreamAttribute::Window {
                base: window.base_ptr.addr(),
                bytes: window.num_bytes,
                hit_ratio: window.hitRatio,
                hit: window.hitProp.0,
                miss: window.missProp.0,
            }
        }
        A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            // SAFETY: the attribute says that it is a policy.
            StreamAttribute::Policy(unsafe { value.syncPolicy }.0)
        }
        A::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
            // SAFETY: the attribute says that it is a priority.
            StreamAttribute::Priority(unsafe { value.priority })
        }
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
            // SAFETY: the attribute says that it is a map of domains.
            let map = unsafe { value.memSyncDomainMap };
            StreamAttribute::DomainMap { default: map.default_, remote: map.remote }
        }
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
            // SAFETY: the attribute says that it is a domain.
            StreamAttribute::Domain(unsafe { value.memSyncDomain }.0)
        }
        _ => return Err(INVALID_VALUE),
    })
}

/// Writes the value of an attribute of a stream.
pub(crate) fn write_stream_attribute(attribute: StreamAttribute) -> CUstreamAttrValue {
    let mut value = CUstreamAttrValue::zeroed();
    match attribute {
        StreamAttribute::Window { base, bytes, hit_ratio, hit, miss } => {
            value.accessPolicyWindow = CUaccessPolicyWindow {
                base_ptr: std::ptr::without_provenance_mut(base),
                num_bytes: bytes,
                hitRatio: hit_ratio,
                hitProp: CUaccessProperty(hit),
                missProp: CUaccessProperty(miss),
            };
        }
        StreamAttribute::Policy(policy) => value.syncPolicy = CUsynchronizationPolicy(policy),
        StreamAttribute::Priority(priority) => value.priority = priority,
        StreamAttribute::DomainMap { default, remote } => {
            value.memSyncDomainMap = CUlaunchMemSyncDomainMap { default_: default, remote };
        }
        StreamAttribute::Domain(domain) => value.memSyncDomain = CUlaunchMemSyncDomain(domain),
    }
    value
}
