//! What the driver knows of an address. All answers are measured where not said otherwise.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint, c_void};

use cuda_sys::{
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS, CUcontext, CUdeviceptr, CUmemoryPool, CUmemorytype,
    CUpointer_attribute, CUresult,
};

use crate::engine::handle::RawHandle;
use crate::engine::mapping::BLOCK;
use crate::engine::registry::{Allocation, MemoryKind};
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, In, Out, Session, simulate};

/// Is the value of an attribute, of the type that the attribute has in C.
enum Value {
    Int(c_uint),
    Number(u64),
    Flag(bool),
    Context(CUcontext),
    Pool(CUmemoryPool),
    Tokens,
}

impl State {
    /// Returns the value of an attribute of known memory.
    fn attribute(
        &self,
        memory: &Allocation,
        address: u64,
        attribute: CUpointer_attribute,
    ) -> Result<Value, CUresult> {
        use CUpointer_attribute as A;
        let is_host = memory.kind.is_host();
        let is_managed = memory.kind.is_managed();
        let pool = self.pools.of.get(&memory.id).copied().unwrap_or(0);
        Ok(match attribute {
            A::CU_POINTER_ATTRIBUTE_CONTEXT => {
                let is_owned = !matches!(memory.kind, MemoryKind::Pool | MemoryKind::Virtual);
                let context = if is_owned { memory.context } else { 0 };
                Value::Context(CUcontext::from_number(context))
            }
            A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => Value::Int(if is_host {
                CUmemorytype::CU_MEMORYTYPE_HOST.0
            } else {
                CUmemorytype::CU_MEMORYTYPE_DEVICE.0
            }),
            A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => {
                let alias = self.registry.alias(memory.id);
                Value::Number(alias.map_or(address, |alias| alias + (address - memory.base)))
            }
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER if is_host || is_managed => Value::Number(address),
            A::CU_POINTER_ATTRIBUTE_BUFFER_ID => Value::Number(memory.id),
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
                Value::Int(c_uint::try_from(memory.device).unwrap_or(0))
            }
            A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
                Value::Flag(memory.kind == MemoryKind::Device)
            }
            A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => Value::Number(self.range_of(memory).0),
            A::CU_POINTER_ATTRIBUTE_RANGE_SIZE => Value::Number(self.range_of(memory).1),
            A::CU_POINTER_ATTRIBUTE_MAPPED => Value::Flag(true),
            A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => Value::Number(self.block_of(memory).0),
            A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => Value::Number(self.block_of(memory).1),
            A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => {
                let physical = self.mapping_at(address).map(|mapping| mapping.physical);
                Value::Number(physical.unwrap_or(self.block_of(memory).0 / PAGE))
            }
            // What they mean is told to no program any more.
            A::CU_POINTER_ATTRIBUTE_P2P_TOKENS if !is_host => Value::Tokens,
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED => Value::Flag(is_managed),
            A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
                Value::Flag(is_managed || self.registry.is_synchronous(memory.id))
            }
            A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
            | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => {
                Value::Flag(memory.kind == MemoryKind::Device)
            }
            A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
                let pool = self.pools.table.get(pool).map(|pool| pool.handle_types);
                let physical = self.mapping_at(address).map(|mapping| mapping.physical);
                let physical = physical.and_then(|physical| self.physical_memory(physical));
                let types = pool.or(physical.map(|physical| physical.handle_types));
                Value::Number(u64::from(types.unwrap_or(0)))
            }
            // Reading and writing.
            A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => Value::Int(3),
            A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => Value::Pool(CUmemoryPool::from_number(pool)),
            _ => return Err(INVALID_VALUE),
        })
    }

    /// Returns where the range begins that memory is in, and how long it is: of mapped memory it is
    /// the reservation.
    fn range_of(&self, memory: &Allocation) -> (u64, u64) {
        let reserved = self.virtual_memory.reserved.range(..=memory.base).next_back();
        match reserved {
            Some((&base, its)) if memory.kind == MemoryKind::Virtual => (base, its.size),
            _ => (memory.base, memory.size),
        }
    }

    /// Returns where the block begins that memory shares with its neighbours, and how long it is.
    fn block_of(&self, memory: &Allocation) -> (u64, u64) {
        if let Some((_, offset, segment)) = self.space.segment(memory.base) {
            return (memory.base - offset, segment.bytes());
        }
        let granule = match memory.kind {
            MemoryKind::Registered => PAGE,
            _ => BLOCK as u64,
        };
        let base = memory.base - memory.base.checked_rem(PAGE).unwrap_or(0);
        (base, (memory.end() - base).next_multiple_of(granule))
    }
}

/// Is how the system maps memory.
const PAGE: u64 = 4096;

/// Writes a value, null where there is none.
fn write(out: *mut c_void, value: &Value) {
    match *value {
        Value::Int(value) => at(out).write(value),
        Value::Number(value) => at(out).write(value),
        Value::Flag(value) => at(out).write(u8::from(value)),
        Value::Context(value) => at(out).write(value),
        Value::Pool(value) => at(out).write(value),
        Value::Tokens => at(out).write(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS::zeroed()),
    }
}

/// Returns the place of a value whose type its attribute decides.
fn at<T>(out: *mut c_void) -> Out<T> {
    Out::of_attribute(out)
}

/// Writes what `cuPointerGetAttributes` says of an address that is not the driver's.
fn write_unknown(out: *mut c_void, attribute: CUpointer_attribute) -> Result<(), CUresult> {
    use CUpointer_attribute as A;
    match attribute {
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => at::<c_int>(out).write(-2),
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE | A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
            at::<c_uint>(out).write(0);
        }
        A::CU_POINTER_ATTRIBUTE_CONTEXT
        | A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER
        | A::CU_POINTER_ATTRIBUTE_HOST_POINTER
        | A::CU_POINTER_ATTRIBUTE_BUFFER_ID
        | A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
        | A::CU_POINTER_ATTRIBUTE_RANGE_SIZE
        | A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR
        | A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE
        | A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID
        | A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
        | A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => at::<u64>(out).write(0),
        A::CU_POINTER_ATTRIBUTE_MAPPED
        | A::CU_POINTER_ATTRIBUTE_IS_MANAGED
        | A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
        | A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => at::<u8>(out).write(0),
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

fn many(
    session: &Session,
    count: c_uint,
    attributes: &Out<CUpointer_attribute>,
    data: &Out<*mut c_void>,
    address: u64,
) -> Result<(), CUresult> {
    let address = session.registry.canonical(address);
    let address = if knows(session) { address } else { 0 };
    for index in 0..usize::try_from(count).unwrap_or(0) {
        let (attribute, out) = (attributes.read_at(index)?, data.read_at(index)?);
        if out.is_null() {
            return Err(INVALID_VALUE);
        }
        match session.registry.find(address) {
            // Manual: an attribute that the memory doesn't have is zero, and no error.
            Some(memory) => match session.attribute(memory, address, attribute) {
                Ok(value) => write(out, &value),
                Err(_) => write_unknown(out, attribute)?,
            },
            None => write_unknown(out, attribute)?,
        }
    }
    Ok(())
}

/// Tells whether addresses tell whose they are: of a thread without a context they do.
fn knows(session: &Session) -> bool {
    session.has_unified_addresses().unwrap_or(true)
}

simulate! {
    /// Sets the one attribute that can be: that operations without a stream are waited for.
    fn cuPointerSetAttribute(
        value: into c_void, attribute: val CUpointer_attribute, address: val CUdeviceptr,
    ) |mut session| {
        session.context()?;
        let memory = session.registry.find(address.0);
        let memory = memory.filter(|memory| memory.kind == MemoryKind::Device).ok_or(INVALID_VALUE)?;
        if attribute != CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
            return Err(INVALID_VALUE);
        }
        let id = memory.id;
        let value: In<u8> = value.cast();
        session.registry.set_synchronous(id, value.read()? != 0);
        Ok(())
    }

    /// Tells an attribute; of an address that isn't the driver's 1, and writes nothing.
    fn cuPointerGetAttribute(
        data: out c_void, attribute: val CUpointer_attribute, address: val CUdeviceptr,
    ) |session| {
        data.required()?;
        let address = session.registry.canonical(address.0);
        let known = session.registry.find(address).filter(|_| knows(&session));
        let memory = known.ok_or(INVALID_VALUE)?;
        let value = session.attribute(memory, address, attribute)?;
        write(data.pointer(), &value);
        Ok(())
    }

    /// Tells several attributes; of an address that isn't the driver's too.
    fn cuPointerGetAttributes(
        count: val c_uint, attributes: out CUpointer_attribute, data: out *mut c_void,
        address: val CUdeviceptr,
    ) |session| {
        many(&session, count, &attributes, &data, address.0)
    }
}
