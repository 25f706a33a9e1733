//! Refusals of lists, records, planes and kernels' arguments: the message of each, and that the
//! driver was not called.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::Path;

use cuda_safe::shim::{Adopted, Handle, Kind, Memory, Region, Steady, Volume, reads, writes};
use cuda_safe::{Context, DeviceBuffer, Error, PinnedBuffer, Stream, call};
use cuda_sim::{Config, isolated};
use cuda_sys::{
    CUfunction, CUmemAllocationGranularity_flags, CUmemAllocationProp, CUmemcpyAttributes,
};

fn context_of(device: i32) -> Context {
    cuda_safe::Device::get(device).unwrap().context().unwrap()
}

/// Checks the message, and that not one driver call was made.
fn refuses<T: std::fmt::Debug>(text: &str, call: impl FnOnce() -> Result<T, Error>) {
    let before = cuda_sim::call_count();
    let error = call().unwrap_err();
    assert_eq!(cuda_sim::call_count(), before, "the driver was called");
    assert_eq!(error.to_string(), text);
    assert!(error.rule().is_some());
}

#[test]
fn lists_are_as_long_as_each_other() {
    isolated!(Config::new(), || {
        let context = context_of(0);
        let stream = Stream::new(&context).unwrap();
        let mut dst = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let src = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let plain = [CUmemcpyAttributes::zeroed()];
        let call = "cuMemcpyBatchAsync_v2";
        refuses(&format!("{call}: `srcs` breaks Count: needs 1, has 2"), || {
            call::memcpy_batch_async(&mut [&mut dst], &[&src, &src], &plain, &[0], &stream)
        });
        refuses(&format!("{call}: `attribute_starts` breaks Count: needs 1, has 0"), || {
            call::memcpy_batch_async(&mut [&mut dst], &[&src], &plain, &[], &stream)
        });
    });
}

#[test]
fn each_item_passes_the_gates() {
    isolated!(Config::new().devices(2), || {
        let (context, elsewhere) = (context_of(0), context_of(1));
        let stream = Stream::new(&context).unwrap();
        let allocate = |context, len| DeviceBuffer::<u8>::allocate(context, len).unwrap();
        let (mut one, mut short) = (allocate(&context, 64), allocate(&context, 32));
        let (src, far) = (allocate(&context, 64), allocate(&elsewhere, 64));
        let (one, short): (&mut dyn cuda_safe::shim::Device, &mut dyn cuda_safe::shim::Device) =
            (&mut one, &mut short);
        let plain = [CUmemcpyAttributes::zeroed()];
        let call = "cuMemcpyBatchAsync_v2";
        refuses(&format!("{call}: `dsts` breaks Reach: needs 64, has 32"), || {
            call::memcpy_batch_async(&mut [one, short], &[&src, &src], &plain, &[0], &stream)
        });
        let (id, other) = (context.id(), elsewhere.id());
        let text = format!("{call}: `srcs` breaks Home: needs context {id}, has context {other}");
        refuses(&text, || call::memcpy_batch_async(&mut [one], &[&far], &plain, &[0], &stream));
    });
}

/// Is all of a buffer once more.
struct Again<'a>(Region<'a>);

// SAFETY: it is only compared.
unsafe impl Memory for Again<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}
// SAFETY: as above.
unsafe impl Steady for Again<'_> {}
// SAFETY: as above.
unsafe impl cuda_safe::shim::Device for Again<'_> {}

#[test]
fn items_do_not_write_each_others_bytes() {
    isolated!(Config::new(), || {
        let context = context_of(0);
        let stream = Stream::new(&context).unwrap();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let mut again = Again(
            Region::new(4096, 64, Kind::Alloc).with_home(&context).within(buffer.allocation(), 0),
        );
        let text = "cuMemcpyBatchAsync_v2: `srcs` breaks Disjoint: needs bytes of its own, has \
                    bytes of `dsts`";
        refuses(text, || {
            call::memcpy_batch_async(&mut [&mut again], &[&buffer], &[], &[], &stream)
        });
    });
}

#[test]
fn planes_reach_as_far_as_their_rows() {
    isolated!(Config::new(), || {
        let context = context_of(0);
        let src = PinnedBuffer::from_slice(&context, &[0_u8; 96]).unwrap();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 96).unwrap();
        let region = |len| {
            Region::new(4096, len, Kind::Alloc)
                .with_home(&context)
                .within(buffer.allocation(), 0)
                .with_rows(8, 8, 12)
                .with_planes(4)
        };
        // Three planes of four rows of eight bytes; the last plane needs three rows: 8 * 10 + 4.
        let extent = Volume { width: 4, height: 3, depth: 3 };
        let src = Again(src.region().with_rows(8, 8, 12).with_planes(4));
        refuses("cuMemcpy3D_v2: `dst` breaks Reach: needs 84, has 83", || {
            call::memcpy_3d(&src, &mut Again(region(83)), extent)
        });
        let high = Volume { height: 5, ..extent };
        refuses("cuMemcpy3D_v2: `dst` breaks Pitch: needs 5, has 4", || {
            call::memcpy_3d(&Again(region(196).with_planes(5)), &mut Again(region(96)), high)
        });
    });
}

#[test]
fn a_record_holds_no_address() {
    isolated!(Config::new(), || {
        let mut properties = CUmemAllocationProp::zeroed();
        let option = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        properties.win32HandleMetaData = std::ptr::dangling_mut();
        let text = "cuMemGetAllocationGranularity: `properties` breaks Plain: needs no address, \
                    has one";
        refuses(text, || call::mem_get_allocation_granularity(&properties, option));
    });
}

/// Is a kernel of an address and a number.
struct Kernel {
    function: Adopted<CUfunction>,
    context: Context,
}

// SAFETY: it is not called.
unsafe impl Handle for Kernel {
    type Raw = CUfunction;

    fn raw(&self) -> CUfunction {
        self.function.raw()
    }

    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn parameters(&self) -> Option<&[usize]> {
        Some(&[8, 4])
    }
}

#[test]
fn arguments_are_those_of_the_kernel() {
    isolated!(Config::new(), || {
        let context = context_of(0);
        let stream = Stream::new(&context).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        // SAFETY: nothing is called with it.
        let function = unsafe { Adopted::new(std::ptr::null_mut(), Some(&context)) };
        let kernel = Kernel { function, context: context.clone() };
        let call = "cuLaunchKernel: `arguments` breaks Arguments";
        refuses(&format!("{call}: needs 2, has 1"), || {
            let arguments = (reads(&buffer),);
            // SAFETY: it is refused.
            unsafe { call::launch_kernel(&kernel, 1, 1, 1, 1, 1, 1, 0, &stream, arguments) }
        });
        refuses(&format!("{call}: needs 4, has 8"), || {
            let arguments = (writes(&mut buffer), 1_u64);
            // SAFETY: it is refused.
            unsafe { call::launch_kernel(&kernel, 1, 1, 1, 1, 1, 1, 0, &stream, arguments) }
        });
    });
}

/// Every rule of the crate is shown by a test of this folder, with its message.
#[test]
fn every_rule_has_a_test() {
    if cuda_sim::is_on_device() {
        return cuda_sim::not_run("every_rule_has_a_test", "it reads the crate's source");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("src/error.rs")).unwrap();
    let (_, rules) = text.split_once("pub enum Rule {").unwrap();
    let (rules, _) = rules.split_once('}').unwrap();
    let rules: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    assert!(rules.len() > 12, "{rules:?}");
    let mut tests = String::new();
    for file in std::fs::read_dir(folder.join("tests")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            tests += &std::fs::read_to_string(path).unwrap();
        }
    }
    for rule in rules {
        assert!(tests.contains(&format!("breaks {rule}")), "no test shows {rule}");
    }
}
