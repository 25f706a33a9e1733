//! Texture and surface objects: checked, and kept for kernels. All answers are manual.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUresult, CUsurfObject,
    CUtexObject,
};

use crate::driver::unions;
use crate::engine::image::{Object, Resource, format};
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, In, simulate};
use crate::report::Side;

/// Elements begin at a multiple of this (`CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`).
const ALIGNMENT: u64 = 512;

/// Rows are multiples of this (`CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`).
const PITCH_ALIGNMENT: usize = 32;

/// The most elements in a row without an array.
const MOST_ELEMENTS: usize = 1 << 28;

/// The flags of a texture's description.
const FLAGS: u32 = cuda_sys::CU_TRSF_READ_AS_INTEGER
    | cuda_sys::CU_TRSF_NORMALIZED_COORDINATES
    | cuda_sys::CU_TRSF_SRGB
    | cuda_sys::CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    | cuda_sys::CU_TRSF_SEAMLESS_CUBEMAP;

impl State {
    /// Reads what an object shows, and checks that it is there.
    fn resource(&mut self, given: &In<CUDA_RESOURCE_DESC>) -> Result<Resource, CUresult> {
        let given = given.read()?;
        if given.flags != 0 {
            return Err(INVALID_VALUE);
        }
        let resource = unions::resource(&given)?;
        match resource {
            Resource::Array(array) => {
                self.array("pResDesc", array)?;
            }
            Resource::Mipmap(mipmap) => {
                self.mipmap("pResDesc", mipmap)?;
            }
            Resource::Linear { address, format, channels, bytes } => {
                let element = format::element(format, channels)?;
                if bytes == 0 || bytes / element > MOST_ELEMENTS {
                    return Err(INVALID_VALUE);
                }
                self.check_elements(address, bytes)?;
            }
            Resource::Rows { address, format, channels, width, height, pitch } => {
                let element = format::element(format, channels)?;
                let row = width.checked_mul(element).ok_or(INVALID_VALUE)?;
                let is_shaped = row != 0
                    && height != 0
                    && row <= pitch
                    && pitch.is_multiple_of(PITCH_ALIGNMENT);
                if !is_shaped {
                    return Err(INVALID_VALUE);
                }
                let bytes = pitch.checked_mul(height - 1).and_then(|rows| rows.checked_add(row));
                self.check_elements(address, bytes.ok_or(INVALID_VALUE)?)?;
            }
        }
        Ok(resource)
    }

    /// Checks that elements begin where they may and lie in one allocation.
    fn check_elements(&self, address: u64, bytes: usize) -> Result<(), CUresult> {
        let memory = self.registry.find(address).ok_or(INVALID_VALUE)?;
        if !address.is_multiple_of(ALIGNMENT) || bytes as u64 > memory.rest(address) {
            return Err(INVALID_VALUE);
        }
        Ok(())
    }

    /// Checks the part of an array that a texture shows.
    fn check_view(
        &self,
        resource: Resource,
        view: &CUDA_RESOURCE_VIEW_DESC,
    ) -> Result<(), CUresult> {
        let levels = match resource {
            Resource::Array(_) => 1,
            Resource::Mipmap(mipmap) => {
                self.images.mipmaps.get(mipmap).map_or(0, |mipmap| mipmap.levels.len())
            }
            Resource::Linear { .. } | Resource::Rows { .. } => return Err(INVALID_VALUE),
        };
        let last = usize::try_from(view.lastMipmapLevel).unwrap_or(usize::MAX);
        let is_ordered = view.firstMipmapLevel <= view.lastMipmapLevel
            && view.firstLayer <= view.lastLayer
            && last < levels.max(1);
        if view.width == 0 || !is_ordered {
            return Err(INVALID_VALUE);
        }
        Ok(())
    }

    fn texture(&mut self, object: CUtexObject) -> Result<&Object, CUresult> {
        if let Some(ended) = self.images.textures.ended(object.0) {
            self.stale("texObject", "the object was destroyed", ended);
        }
        self.images.textures.get(object.0).ok_or(INVALID_VALUE)
    }

    fn surface(&mut self, object: CUsurfObject) -> Result<&Object, CUresult> {
        if let Some(ended) = self.images.surfaces.ended(object.0) {
            self.stale("surfObject", "the object was destroyed", ended);
        }
        self.images.surfaces.get(object.0).ok_or(INVALID_VALUE)
    }
}

/// Refuses a description of a texture that holds a number without meaning.
fn check(texture: &CUDA_TEXTURE_DESC) -> Result<(), CUresult> {
    let modes = texture.addressMode.iter().all(|mode| mode.0 <= 3);
    let filters = texture.filterMode.0 <= 1 && texture.mipmapFilterMode.0 <= 1;
    if modes && filters && texture.flags & !FLAGS == 0 { Ok(()) } else { Err(INVALID_VALUE) }
}

simulate! {
    /// Creates a texture object.
    fn cuTexObjectCreate(
        object: out CUtexObject, resource: into CUDA_RESOURCE_DESC, texture: into CUDA_TEXTURE_DESC,
        view: into CUDA_RESOURCE_VIEW_DESC,
    ) |mut session| {
        object.required()?;
        let context = session.context()?.handle;
        let resource = session.resource(&resource)?;
        let texture = texture.read()?;
        check(&texture)?;
        let view = if view.is_null() { None } else { Some(view.read()?) };
        if let Some(view) = &view {
            session.check_view(resource, view)?;
        }
        let made_by = Side::new(session.call(), "");
        let texture = Some(texture);
        let handle = session
            .images
            .textures
            .insert_with(|_| Object { context, resource, texture, view, made_by })
            .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        object.write(CUtexObject(handle));
        Ok(())
    }

    /// Destroys a texture object.
    fn cuTexObjectDestroy(object: val CUtexObject) |mut session| {
        session.texture(object)?;
        session.images.textures.remove(object.0);
        Ok(())
    }

    /// Tells what a texture object shows.
    fn cuTexObjectGetResourceDesc(
        resource: out CUDA_RESOURCE_DESC, object: val CUtexObject,
    ) |mut session| {
        resource.required()?;
        resource.write(unions::description(session.texture(object)?.resource));
        Ok(())
    }

    /// Tells how a texture object is read.
    fn cuTexObjectGetTextureDesc(
        texture: out CUDA_TEXTURE_DESC, object: val CUtexObject,
    ) |mut session| {
        texture.required()?;
        texture.write(session.texture(object)?.texture.ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Tells which part of an array a texture object shows, if that was said.
    fn cuTexObjectGetResourceViewDesc(
        view: out CUDA_RESOURCE_VIEW_DESC, object: val CUtexObject,
    ) |mut session| {
        view.required()?;
        view.write(session.texture(object)?.view.ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Creates a surface object of an array that was made for it.
    fn cuSurfObjectCreate(
        object: out CUsurfObject, resource: into CUDA_RESOURCE_DESC,
    ) |mut session| {
        object.required()?;
        let context = session.context()?.handle;
        let resource = session.resource(&resource)?;
        let Resource::Array(array) = resource else { return Err(INVALID_VALUE) };
        let flags = session.array("pResDesc", array)?.descriptor.Flags;
        if flags & cuda_sys::CUDA_ARRAY3D_SURFACE_LDST == 0 {
            return Err(INVALID_VALUE);
        }
        let made_by = Side::new(session.call(), "");
        let handle = session
            .images
            .surfaces
            .insert_with(|_| Object { context, resource, texture: None, view: None, made_by })
            .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        object.write(CUsurfObject(handle));
        Ok(())
    }

    /// Destroys a surface object.
    fn cuSurfObjectDestroy(object: val CUsurfObject) |mut session| {
        session.surface(object)?;
        session.images.surfaces.remove(object.0);
        Ok(())
    }

    /// Tells what a surface object shows.
    fn cuSurfObjectGetResourceDesc(
        resource: out CUDA_RESOURCE_DESC, object: val CUsurfObject,
    ) |mut session| {
        resource.required()?;
        resource.write(unions::description(session.surface(object)?.resource));
        Ok(())
    }
}
