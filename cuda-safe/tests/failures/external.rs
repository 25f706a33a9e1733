//! Memory of others.

use cuda_safe::layout::StridedLayout;
use cuda_safe::sys::CUdeviceptr;
use cuda_safe::{
    Context, DeviceBuffer, External, PinnedBuffer, Result, Stream, ViewMut, call, copy,
};

use crate::given::Given;

/// Frees what it owns, when it is dropped.
struct Owner(Context, CUdeviceptr, Given);

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: it was allocated by this test, is not freed yet, and whoever drops the owner has
        // waited.
        while let Err(error) = unsafe { call::mem_free(&self.0, self.1) } {
            // A free that fails has freed all the same; else nothing was freed yet.
            let is_freed = error.call == "cuMemFree_v2" && error.code().is_some();
            self.2.tell(error);
            if is_freed {
                break;
            }
        }
    }
}

/// Fills all of it.
fn fill(external: &mut External<Owner>, layout: StridedLayout, stream: &Stream) -> Result<()> {
    let mut view = ViewMut::<u8>::new(external, layout)?;
    let source = PinnedBuffer::<u8>::zeroed(stream.context(), 64)?;
    copy(&source.view()?, &mut view, stream).map(drop)
}

#[test]
fn memory_of_others() {
    each_call_fails!([External::new, External::of_array], |given| {
        let (context, stream) = given.stream()?;
        let line = StridedLayout::from_byte_strides(&[64], &[1], 1)?;
        let owner = Owner(context.clone(), call::mem_alloc(&context, 64)?, given.clone());
        let address = owner.1;
        // SAFETY: the owner keeps the bytes, and only this test knows them.
        let mut external = unsafe { External::new(&context, address, 64, owner) }?;
        fill(&mut external, line.clone(), &stream)?;
        drop(external);
        let owner = Owner(context.clone(), call::mem_alloc(&context, 64)?, given.clone());
        let address = owner.1;
        // SAFETY: as above.
        let made = unsafe { External::of_array(&context, address, &line, owner) }?;
        let (mut external, line) = made;
        fill(&mut external, line, &stream)?;
        stream.synchronize()
    });
}

#[test]
fn what_memory_of_others_knows_without_asking() {
    asks_no_driver!(
        [External::allocation, External::is_empty, External::kind, External::len],
        |given| {
            let context = given.context()?;
            let buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            // SAFETY: the address is used as long as the buffer.
            let address = unsafe { buffer.as_device_ptr() };
            // SAFETY: the buffer is the owner, and nobody else has it.
            unsafe { External::new(&context, address, 32, buffer) }
        },
        |external| {
            assert_eq!((external.len(), external.is_empty()), (32, false));
            assert_eq!(external.allocation().len(), 64);
            assert_eq!(external.kind(), cuda_safe::shim::Kind::External);
            Ok(external)
        }
    );
}
