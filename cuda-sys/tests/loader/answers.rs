//! What a driver answers reaches the program as it is, known or not.

use core::ptr;
use std::path::Path;

use cuda_sys::*;

use crate::Case;
use crate::support::FakeDriver;

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, prepare, body| Case { name, prepare, body, is_watched: true };
    vec![
        case("reports_15_names_come_from_the_library", renumbered, || {
            for code in 0..1000 {
                let name = CUresult(code).name().map(|name| name.to_string_lossy().into_owned());
                let expected = (code % 7 != 0).then(|| format!("RENUMBERED_{}", code % 7));
                assert_eq!(name, expected, "{code}");
            }
            assert_eq!(CUresult(5).description(), None, "this driver lacks cuGetErrorString");
        }),
        case("reports_16_unknown_numbers_are_values", unknown_numbers, || {
            // SAFETY: the fake takes anything.
            let status = unsafe { cuInit(0) };
            assert_eq!(format!("{status:?}"), "CUresult(9999)");
            let mut kind = CUmemorytype::default();
            // SAFETY: the fake writes a 32-bit number.
            let status = unsafe {
                cuPointerGetAttribute(
                    (&raw mut kind).cast(),
                    CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                    CUdeviceptr(0x1000),
                )
            };
            assert_eq!(status, CUresult::CUDA_SUCCESS);
            assert_eq!(format!("{kind:?}"), "CUmemorytype(77)");
        }),
        case("reports_17_flags_combine_and_arrive", returns_flags, || {
            let both = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                | CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
            assert!(both.contains(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC));
            assert_eq!(
                format!("{both:?}"),
                "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC"
            );
            let mut properties = CUmemPoolProps::zeroed();
            properties.handleTypes = both;
            let mut pool = ptr::null_mut();
            // SAFETY: the fake reads the record and writes nothing.
            let status = unsafe { cuMemPoolCreate(&mut pool, &properties) };
            assert_eq!(status.0, 1 | 8, "the fake answers with the bits that it saw");
        }),
        case("reports_18_attributes_unknown_to_either_side_pass", picky_attributes, || {
            let ask = |attribute| {
                let mut value = -5;
                // SAFETY: the fake writes at most one number.
                let status = unsafe { cuDeviceGetAttribute(&mut value, attribute, CUdevice(0)) };
                (status, value)
            };
            let newest = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT;
            let refused = (CUresult::CUDA_ERROR_INVALID_VALUE, -5);
            assert_eq!(ask(CUdevice_attribute(100_000)), refused);
            assert_eq!(ask(newest), refused, "no value is made up");
            assert_eq!(ask(CUdevice_attribute(1)), (CUresult::CUDA_SUCCESS, 1024));
        }),
        case("locations_are_written_where_the_driver_reads_them", reads_location, || {
            let location = CUmemLocation::device(3);
            // SAFETY: the constructor set the member.
            assert_eq!(unsafe { location.id() }, 3);
            let access = CUmemAccessDesc {
                location,
                flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            };
            // SAFETY: the fake reads the record.
            let status = unsafe { cuMemSetAccess(CUdeviceptr(0), 0, &access, 1) };
            assert_eq!(status.0, 100 + 10 * 3 + 3);
        }),
    ]
}

fn driver(folder: &Path, function: &str) -> Vec<(&'static str, String)> {
    let fake = FakeDriver::of_version(12020).with(function);
    vec![("CUDA_SYS_DRIVER", fake.build(folder, "libcuda.so.1").display().to_string())]
}

fn renumbered(folder: &Path) -> Vec<(&'static str, String)> {
    driver(
        folder,
        r#"fn cuGetErrorName(code: u32, text: *mut *const u8) -> u32 {
            let names = [
                c"RENUMBERED_1", c"RENUMBERED_2", c"RENUMBERED_3",
                c"RENUMBERED_4", c"RENUMBERED_5", c"RENUMBERED_6",
            ];
            match (code % 7).checked_sub(1) {
                Some(index) => unsafe { *text = names[index as usize].as_ptr().cast() },
                None => return 1,
            }
            0
        }"#,
    )
}

fn unknown_numbers(folder: &Path) -> Vec<(&'static str, String)> {
    let fake = FakeDriver::empty().returning("cuInit", 9999).with(
        "fn cuPointerGetAttribute(data: *mut u32, _attribute: u32, _address: u64) -> u32 {
            unsafe { *data = 77 };
            0
        }",
    );
    vec![("CUDA_SYS_DRIVER", fake.build(folder, "libcuda.so.1").display().to_string())]
}

fn returns_flags(folder: &Path) -> Vec<(&'static str, String)> {
    driver(
        folder,
        "fn cuMemPoolCreate(_pool: *mut usize, properties: *const [u32; 2]) -> u32 {
            unsafe { (*properties)[1] }
        }",
    )
}

fn picky_attributes(folder: &Path) -> Vec<(&'static str, String)> {
    driver(
        folder,
        "fn cuDeviceGetAttribute(value: *mut i32, attribute: u32, _device: i32) -> u32 {
            if attribute > 135 { return 1; }
            unsafe { *value = 1024 };
            0
        }",
    )
}

fn reads_location(folder: &Path) -> Vec<(&'static str, String)> {
    driver(
        folder,
        "fn cuMemSetAccess(_: u64, _: usize, access: *const [u32; 3], _count: usize) -> u32 {
            let [kind, id, flags] = unsafe { *access };
            100 * kind + 10 * id + flags
        }",
    )
}
