//! Arrays and mipmapped arrays: created, described, destroyed. All answers are manual.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;

use cuda_sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 as MemoryRequirements,
    CUDA_ARRAY_SPARSE_PROPERTIES_v1 as SparseProperties, CUDA_ARRAY3D_DESCRIPTOR, CUarray,
    CUdevice, CUmipmappedArray, CUresult,
};

use crate::driver::memory::free_now;
use crate::engine::address_space::Purpose;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::image::{Array, Mipmap, format};
use crate::engine::raw::Extent;
use crate::engine::state::State;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// The flags that arrays may have here.
const FLAGS: u32 = cuda_sys::CUDA_ARRAY3D_LAYERED
    | cuda_sys::CUDA_ARRAY3D_SURFACE_LDST
    | cuda_sys::CUDA_ARRAY3D_CUBEMAP
    | cuda_sys::CUDA_ARRAY3D_TEXTURE_GATHER
    | cuda_sys::CUDA_ARRAY3D_DEPTH_TEXTURE
    | cuda_sys::CUDA_ARRAY3D_COLOR_ATTACHMENT;

/// The flags that only devices have of which this is none.
const UNSUPPORTED: u32 = cuda_sys::CUDA_ARRAY3D_SPARSE
    | cuda_sys::CUDA_ARRAY3D_DEFERRED_MAPPING
    | cuda_sys::CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

impl State {
    /// Makes an array, which may be a level of a mipmapped one.
    fn make_array(
        &mut self,
        call: &'static str,
        descriptor: CUDA_ARRAY3D_DESCRIPTOR,
        mipmap: Option<Handle>,
    ) -> Result<Handle, CUresult> {
        let context = self.context()?.handle;
        if descriptor.Flags & !(FLAGS | UNSUPPORTED) != 0 {
            return Err(INVALID_VALUE);
        }
        if descriptor.Flags & UNSUPPORTED != 0 {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let extent = format::extent(&descriptor)?;
        let element = format::element(descriptor.Format, descriptor.NumChannels)?;
        let (memory, _) = self.allocate(call, extent.volume(), Purpose::Array)?;
        let made_by = Side::new(call, "");
        let array = Array { memory, context, descriptor, element, extent, mipmap, made_by };
        let handle = self.images.arrays.insert_with(|_| array);
        if handle.is_none() {
            self.release(memory);
        }
        handle.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)
    }

    /// Returns a mipmapped array. A stale handle is reported.
    pub(crate) fn mipmap(
        &mut self,
        operand: &'static str,
        handle: Handle,
    ) -> Result<&Mipmap, CUresult> {
        if let Some(ended) = self.images.mipmaps.ended(handle) {
            self.stale(operand, "the mipmapped array was destroyed", ended);
        }
        self.images.mipmaps.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}

fn create(mut session: Session, out: &Out<CUarray>, descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> Answer {
    out.required()?;
    let call = session.call();
    let handle = session.make_array(call, descriptor, None)?;
    out.write(CUarray::from_number(handle));
    Ok(())
}

/// Returns what a level of a mipmapped array is: each is half as large as the one before.
fn level(descriptor: CUDA_ARRAY3D_DESCRIPTOR, level: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    let half = |size: usize| if size == 0 { 0 } else { (size >> level).max(1) };
    let is_layered =
        descriptor.Flags & (cuda_sys::CUDA_ARRAY3D_LAYERED | cuda_sys::CUDA_ARRAY3D_CUBEMAP) != 0;
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: half(descriptor.Width),
        Height: half(descriptor.Height),
        // Layers and faces stay.
        Depth: if is_layered { descriptor.Depth } else { half(descriptor.Depth) },
        ..descriptor
    }
}

/// Returns how many levels a mipmapped array can have.
fn most_levels(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> u32 {
    let is_layered =
        descriptor.Flags & (cuda_sys::CUDA_ARRAY3D_LAYERED | cuda_sys::CUDA_ARRAY3D_CUBEMAP) != 0;
    let depth = if is_layered { 0 } else { descriptor.Depth };
    let largest = descriptor.Width.max(descriptor.Height).max(depth).max(1);
    1 + largest.ilog2()
}

fn create_mipmap(
    mut session: Session,
    out: &Out<CUmipmappedArray>,
    descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    levels: c_uint,
) -> Answer {
    out.required()?;
    let context = session.context()?.handle;
    let call = session.call();
    // A number that is out of range is brought into it.
    let count = levels.clamp(1, most_levels(&descriptor));
    let made_by = Side::new(call, "");
    let handle = session
        .images
        .mipmaps
        .insert_with(|_| Mipmap { context, levels: Vec::new(), made_by })
        .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    for index in 0..count {
        match session.make_array(call, level(descriptor, index), Some(handle)) {
            Ok(array) => {
                if let Some(mipmap) = session.images.mipmaps.get_mut(handle) {
                    mipmap.levels.push(array);
                }
            }
            Err(error) => {
                let mipmap = session.images.mipmaps.remove(handle);
                for array in mipmap.map(|mipmap| mipmap.levels).unwrap_or_default() {
                    session.remove_array(array);
                }
                return Err(error);
            }
        }
    }
    out.write(CUmipmappedArray::from_number(handle));
    Ok(())
}

fn destroy(mut session: Session, array: CUarray) -> Answer {
    session.context()?;
    let handle = array.number();
    let found = session.array("hArray", handle)?;
    // A level goes with its mipmapped array, and to destroy it is no error (measured).
    if found.mipmap.is_some() {
        return Ok(());
    }
    let memory = found.memory;
    session.images.arrays.remove(handle);
    free_now(session, memory, "hArray")
}

fn destroy_mipmap(mut session: Session, mipmap: CUmipmappedArray) -> Answer {
    let context = session.context()?.handle;
    let owner = session.mipmap("hMipmappedArray", mipmap.number())?.context;
    let session = session.drain_context(context)?;
    let mut session = session.drain_context(owner)?;
    let removed = session.images.mipmaps.remove(mipmap.number());
    for array in removed.map(|mipmap| mipmap.levels).unwrap_or_default() {
        session.remove_array(array);
    }
    Ok(())
}

simulate! {
    /// Creates an array of one or two dimensions.
    fn cuArrayCreate_v2(array: out CUarray, descriptor: into CUDA_ARRAY_DESCRIPTOR) |session| {
        let given = descriptor.read()?;
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: given.Width,
            Height: given.Height,
            Depth: 0,
            Format: given.Format,
            NumChannels: given.NumChannels,
            Flags: 0,
        };
        create(session, &array, descriptor)
    }

    /// Creates an array of up to three dimensions, or of layers, or of faces.
    fn cuArray3DCreate_v2(array: out CUarray, descriptor: into CUDA_ARRAY3D_DESCRIPTOR) |session| {
        create(session, &array, descriptor.read()?)
    }

    /// Tells what an array is, without its depth.
    fn cuArrayGetDescriptor_v2(
        descriptor: out CUDA_ARRAY_DESCRIPTOR, array: val CUarray,
    ) |mut session| {
        descriptor.required()?;
        session.context()?;
        let found = session.array("hArray", array.number())?.descriptor;
        descriptor.write(CUDA_ARRAY_DESCRIPTOR {
            Width: found.Width,
            Height: found.Height,
            Format: found.Format,
            NumChannels: found.NumChannels,
        });
        Ok(())
    }

    /// Tells what an array is.
    fn cuArray3DGetDescriptor_v2(
        descriptor: out CUDA_ARRAY3D_DESCRIPTOR, array: val CUarray,
    ) |mut session| {
        descriptor.required()?;
        session.context()?;
        descriptor.write(session.array("hArray", array.number())?.descriptor);
        Ok(())
    }

    /// Destroys an array when all work of the context is done.
    fn cuArrayDestroy(array: val CUarray) |session| {
        destroy(session, array)
    }

    /// Refuses: only arrays whose memory is mapped later have requirements, and there are none.
    fn cuArrayGetMemoryRequirements(
        requirements: out MemoryRequirements, array: val CUarray, device: val CUdevice,
    ) |mut session| {
        requirements.required()?;
        session.device(device)?;
        session.array("array", array.number())?;
        Err(INVALID_VALUE)
    }

    /// Refuses: no array is sparse.
    fn cuArrayGetSparseProperties(
        properties: out SparseProperties, array: val CUarray,
    ) |mut session| {
        properties.required()?;
        session.array("array", array.number())?;
        Err(INVALID_VALUE)
    }

    /// Refuses: no array has planes.
    fn cuArrayGetPlane(plane: out CUarray, array: val CUarray, _index: val c_uint) |mut session| {
        plane.required()?;
        session.array("hArray", array.number())?;
        Err(INVALID_VALUE)
    }

    /// Creates a mipmapped array.
    fn cuMipmappedArrayCreate(
        mipmap: out CUmipmappedArray, descriptor: into CUDA_ARRAY3D_DESCRIPTOR, levels: val c_uint,
    ) |session| {
        create_mipmap(session, &mipmap, descriptor.read()?, levels)
    }

    /// Returns a level of a mipmapped array, which is an array.
    fn cuMipmappedArrayGetLevel(
        array: out CUarray, mipmap: val CUmipmappedArray, level: val c_uint,
    ) |mut session| {
        array.required()?;
        let levels = &session.mipmap("hMipmappedArray", mipmap.number())?.levels;
        let index = usize::try_from(level).map_err(|_| INVALID_VALUE)?;
        let handle = levels.get(index).copied().ok_or(INVALID_VALUE)?;
        array.write(CUarray::from_number(handle));
        Ok(())
    }

    /// Destroys a mipmapped array with its levels when all work of the context is done.
    fn cuMipmappedArrayDestroy(mipmap: val CUmipmappedArray) |session| {
        destroy_mipmap(session, mipmap)
    }

    /// Refuses: only arrays whose memory is mapped later have requirements, and there are none.
    fn cuMipmappedArrayGetMemoryRequirements(
        requirements: out MemoryRequirements, mipmap: val CUmipmappedArray, device: val CUdevice,
    ) |mut session| {
        requirements.required()?;
        session.device(device)?;
        session.mipmap("hMipmappedArray", mipmap.number())?;
        Err(INVALID_VALUE)
    }

    /// Refuses: no array is sparse.
    fn cuMipmappedArrayGetSparseProperties(
        properties: out SparseProperties, mipmap: val CUmipmappedArray,
    ) |mut session| {
        properties.required()?;
        session.mipmap("hMipmappedArray", mipmap.number())?;
        Err(INVALID_VALUE)
    }
}

/// Returns the extent of a copy of bytes in one row.
pub(crate) const fn row(bytes: usize) -> Extent {
    Extent { width: bytes, height: 1, depth: 1 }
}
