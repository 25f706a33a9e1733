//! Arrays, mipmapped arrays, and the texture and surface objects that kernels see them through.
//!
//! An array's elements lie in rows without gaps, in blocks of device memory that no address of a
//! call reaches. What a format is, is in `format`.

pub(crate) mod format;

use cuda_sys::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUarray_format, CUresult,
};

use crate::engine::handle::{Handle, Kind, Table};
use crate::engine::operand::{Space, area};
use crate::engine::raw::{Extent, Rows};
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::engine::work::Place;
use crate::entry::INVALID_VALUE;
use crate::report::Side;

/// Is an array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) memory: BufferId,
    pub(crate) context: Handle,
    pub(crate) descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    /// How many bytes an element has, all its channels together.
    pub(crate) element: usize,
    /// Bytes of a row, rows of a slice, slices; none of them zero. A layer is a slice.
    pub(crate) extent: Extent,
    /// The mipmapped array that it is a level of.
    pub(crate) mipmap: Option<Handle>,
    /// The call that made it.
    pub(crate) made_by: Side,
}

/// Is a mipmapped array.
#[derive(Debug)]
pub(crate) struct Mipmap {
    pub(crate) context: Handle,
    pub(crate) levels: Vec<Handle>,
    pub(crate) made_by: Side,
}

/// Is what a texture or surface object shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Array(Handle),
    Mipmap(Handle),
    /// Elements in a row.
    Linear {
        address: u64,
        format: CUarray_format,
        channels: u32,
        bytes: usize,
    },
    /// Elements in rows.
    Rows {
        address: u64,
        format: CUarray_format,
        channels: u32,
        width: usize,
        height: usize,
        pitch: usize,
    },
}

/// Is a texture or surface object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) context: Handle,
    pub(crate) resource: Resource,
    /// A texture has it, a surface does not.
    pub(crate) texture: Option<CUDA_TEXTURE_DESC>,
    pub(crate) view: Option<CUDA_RESOURCE_VIEW_DESC>,
    pub(crate) made_by: Side,
}

/// Holds them all.
#[derive(Debug)]
pub(crate) struct Images {
    pub(crate) arrays: Table<Array>,
    pub(crate) mipmaps: Table<Mipmap>,
    pub(crate) textures: Table<Object>,
    pub(crate) surfaces: Table<Object>,
}

impl Default for Images {
    fn default() -> Self {
        Self {
            arrays: Table::new(Kind::Array),
            mipmaps: Table::new(Kind::Mipmap),
            textures: Table::new(Kind::Texture),
            surfaces: Table::new(Kind::Surface),
        }
    }
}

impl Images {
    /// Returns what is alive, with the call that made it. A level is its mipmapped array's.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (&Side, String)> {
        let arrays = self.arrays.values().filter(|array| array.mipmap.is_none());
        let arrays = arrays.map(|array| {
            let Extent { width, height, depth } = array.extent;
            let bytes = format!("an array of {depth} slices of {height} rows of {width} bytes");
            (&array.made_by, bytes)
        });
        let mipmaps = self.mipmaps.values().map(|mipmap| {
            (&mipmap.made_by, format!("a mipmapped array of {} levels", mipmap.levels.len()))
        });
        let textures = self.textures.values().map(|object| (&object.made_by, "a texture object"));
        let surfaces = self.surfaces.values().map(|object| (&object.made_by, "a surface object"));
        let objects = textures.chain(surfaces).map(|(side, what)| (side, what.to_owned()));
        arrays.chain(mipmaps).chain(objects)
    }
}

/// Is a part of an array as a call gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) name: &'static str,
    pub(crate) array: Handle,
    /// Where it begins: bytes, rows, slices.
    pub(crate) start: [usize; 3],
}

impl State {
    /// Returns an array. A stale handle is reported.
    pub(crate) fn array(
        &mut self,
        operand: &'static str,
        handle: Handle,
    ) -> Result<&Array, CUresult> {
        if let Some(ended) = self.images.arrays.ended(handle) {
            self.stale(operand, "the array was destroyed", ended);
        }
        self.images.arrays.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Finds the memory of a part of an array, inside of it. It need not begin or end where an element
    /// does (measured).
    pub(crate) fn resolve_region(
        &mut self,
        region: Region,
        extent: Extent,
    ) -> Result<(Space, Place), CUresult> {
        let Region { name, array, start: [x, y, z] } = region;
        // Measured.
        if array == 0 {
            return Err(INVALID_VALUE);
        }
        let array = self.array(name, array)?;
        let (memory, whole) = (array.memory, array.extent);
        let fits = |start: usize, length: usize, whole: usize| {
            start.checked_add(length).is_some_and(|end| end <= whole)
        };
        let is_inside = fits(x, extent.width, whole.width)
            && fits(y, extent.height, whole.height)
            && fits(z, extent.depth, whole.depth);
        if !is_inside {
            return Err(INVALID_VALUE);
        }
        let (pitch, slice) = (whole.width, whole.width * whole.height);
        let base = self.registry.get(memory).map(|memory| memory.base).ok_or(INVALID_VALUE)?;
        let address = base + (z * slice + y * pitch + x) as u64;
        let rows = Rows { base: self.space.reservation.shadow(address), pitch, slice };
        let area = area(address, pitch, slice, extent);
        let place = Place { rows, memory: Some(memory), expected: None, operand: name, area };
        Ok((Space::Device, place))
    }

    /// Takes an array and its memory away; its work is done.
    pub(crate) fn remove_array(&mut self, handle: Handle) {
        if let Some(array) = self.images.arrays.remove(handle) {
            self.release(array.memory);
        }
    }

    /// Takes away what belongs to a context that ends.
    pub(crate) fn end_images(&mut self, context: Handle) {
        for handle in self.images.arrays.handles(|array| array.context == context) {
            self.remove_array(handle);
        }
        self.images.mipmaps.remove_if(|mipmap| mipmap.context == context);
        self.images.textures.remove_if(|object| object.context == context);
        self.images.surfaces.remove_if(|object| object.context == context);
    }
}
