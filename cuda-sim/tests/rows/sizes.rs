use std::ffi::c_void;
use std::ptr;

use cuda_sys::*;

use crate::common::*;
use crate::pointer_attributes::Virtual;
use crate::recorder::Rows;
use crate::table;

/// Is a call on a device address and a host buffer, of so many bytes.
type Call = fn(CUdeviceptr, *mut c_void, usize) -> u32;

/// Copies rows between device memory and the host; `to_device` says which way.
fn rows_2d(
    to_device: bool,
    unaligned: bool,
    device: CUdeviceptr,
    host: *mut c_void,
    bytes: usize,
) -> u32 {
    // One row more than the bytes that are a multiple of 64 have.
    let (width, height) = (64, bytes.div_ceil(64));
    let mut copy = CUDA_MEMCPY2D::zeroed();
    copy.WidthInBytes = width;
    copy.Height = height;
    (copy.srcPitch, copy.dstPitch) = (width, width);
    if to_device {
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.srcHost = host;
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = device;
    } else {
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = device;
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.dstHost = host;
    }
    if unaligned { code!(cuMemcpy2DUnaligned_v2(&copy)) } else { code!(cuMemcpy2D_v2(&copy)) }
}

const CALLS: &[(&str, Call)] = &[
    ("cuMemcpyDtoH", |device, host, bytes| code!(cuMemcpyDtoH_v2(host, device, bytes))),
    ("cuMemcpyHtoD", |device, host, bytes| code!(cuMemcpyHtoD_v2(device, host, bytes))),
    ("cuMemcpyDtoHAsync", |device, host, bytes| {
        code!(cuMemcpyDtoHAsync_v2(host, device, bytes, LEGACY))
    }),
    ("cuMemcpyHtoDAsync", |device, host, bytes| {
        code!(cuMemcpyHtoDAsync_v2(device, host, bytes, LEGACY))
    }),
    ("cuMemcpy, from", |device, host, bytes| {
        code!(cuMemcpy(CUdeviceptr(host as u64), device, bytes))
    }),
    ("cuMemcpy, to", |device, host, bytes| {
        code!(cuMemcpy(device, CUdeviceptr(host as u64), bytes))
    }),
    ("cuMemcpy2D, from", |device, host, bytes| rows_2d(false, false, device, host, bytes)),
    ("cuMemcpy2D, to", |device, host, bytes| rows_2d(true, false, device, host, bytes)),
    ("cuMemcpy2DUnaligned, from", |device, host, bytes| rows_2d(false, true, device, host, bytes)),
    ("cuMemcpy2DUnaligned, to", |device, host, bytes| rows_2d(true, true, device, host, bytes)),
    ("cuMemsetD8", |device, _, bytes| code!(cuMemsetD8_v2(device, 9, bytes))),
    ("cuMemsetD8Async", |device, _, bytes| code!(cuMemsetD8Async(device, 9, bytes, LEGACY))),
    ("cuMemsetD32", |device, _, bytes| code!(cuMemsetD32_v2(device, 9, bytes.div_ceil(4)))),
    ("cuMemsetD2D8", |device, _, bytes| {
        code!(cuMemsetD2D8_v2(device, 64, 9, 64, bytes.div_ceil(64)))
    }),
];

#[test]
fn past_the_end() {
    table!("sizes past the end", |rows| {
        start();
        let (memory, neighbour) = (alloc(4096), alloc(4096));
        ok!(cuMemsetD8_v2(memory, 1, 4096));
        ok!(cuMemsetD8_v2(neighbour, 2, 4096));
        ok!(cuCtxSynchronize());
        let mut host = vec![3_u8; 8 << 20];
        let past = [
            ("by 1 byte", 4097),
            ("by 4 KiB, into a live neighbour", 8192),
            ("beyond the 2 MiB block", 3 << 20),
        ];
        for (name, call) in CALLS {
            for (how_far, bytes) in past {
                let answer = call(memory, host.as_mut_ptr().cast(), bytes);
                rows.is(&format!("{name}, {how_far}"), answer, 1);
            }
            // The neighbour is the last of what is allocated.
            let answer = call(neighbour, host.as_mut_ptr().cast(), 8192);
            rows.is(&format!("{name}, into what is not allocated"), answer, 1);
        }
        let large = alloc(8 << 20);
        for (how_far, bytes) in past {
            let answers = [
                code!(cuMemcpyDtoD_v2(memory, large, bytes)),
                code!(cuMemcpyDtoD_v2(large, memory, bytes)),
                code!(cuMemcpyDtoDAsync_v2(memory, large, bytes, LEGACY)),
                code!(cuMemcpyDtoDAsync_v2(large, memory, bytes, LEGACY)),
            ];
            rows.is(&format!("cuMemcpyDtoD, either side, async too, {how_far}"), answers, [1; 4]);
        }
        ok!(cuCtxSynchronize());
        let unchanged = read(memory, 4096) == [1; 4096] && read(neighbour, 4096) == [2; 4096];
        rows.is("nothing written", unchanged && host.iter().all(|&byte| byte == 3), true);
        for address in [memory, neighbour, large] {
            free(address);
        }
        end();
    });
}

#[test]
fn of_other_memory() {
    table!("sizes past the end: other memory", |rows| {
        start();
        let target = alloc(4 << 20);
        // By its name the call says whose memory it is: an address that is neither the device's nor
        // the driver's would be followed on the host.
        let mut both = |row: &str, address: CUdeviceptr, bytes: usize, measured: u32| {
            let answers = [
                code!(cuMemcpyDtoD_v2(target, address, bytes)),
                code!(cuMemcpyDtoDAsync_v2(target, address, bytes, LEGACY)),
            ];
            rows.is(row, answers, [measured; 2]);
            ok!(cuCtxSynchronize());
        };
        let mut ordered = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut ordered, 4096, LEGACY));
        both("pool memory, 4097 of 4096", ordered, 4097, 1);
        ok!(cuMemFreeAsync(ordered, LEGACY));
        ok!(cuCtxSynchronize());
        both("freed pool memory", ordered, 16, 1);
        let memory = Virtual::new(2 << 20, CUmemAllocationHandleType(0));
        both("VMM, 2 MiB + 1", memory.address, (2 << 20) + 1, 1);
        memory.end();
        let page = pinned(4096);
        both("pinned, 4097 of 4096", CUdeviceptr(page as u64), 4097, 1);
        ok!(cuMemFreeHost(page.cast()));
        let (freed, neighbour) = (alloc(4096), alloc(4096));
        free(freed);
        both("freed memory in a live block", freed, 16, 1);
        let mut host = vec![1_u8; 5 * 4096];
        let base = host.as_mut_ptr();
        let base = base.wrapping_add(base.align_offset(4096));
        let registered = base.wrapping_add(4096);
        ok!(cuMemHostRegister_v2(registered.cast(), 4096, 0));
        from_a_registered_page(rows, target, registered);
        ok!(cuMemHostUnregister(registered.cast()));
        rows.is("memset of freed memory", code!(cuMemsetD8_v2(freed, 0, 16)), 1);
        free(neighbour);
        free(target);
        end();
    });
}

#[test]
fn null_and_small_addresses() {
    table!("device and host address 0", |rows| {
        start();
        let memory = alloc(64);
        for address in [0, 0x1000] {
            let name = format!("device address {address:#x}");
            let address = CUdeviceptr(address);
            rows.is(&name, code!(cuMemsetD8_v2(address, 1, 1)), 1);
            rows.is(&format!("{name}, size 0"), code!(cuMemsetD8_v2(address, 1, 0)), 0);
        }
        rows.is("host address 0, 1 byte", code!(cuMemcpyHtoD_v2(memory, ptr::null(), 1)), 1);
        free(memory);
        end();
    });
}

#[test]
fn misaligned_fills() {
    table!("misaligned and odd fills", |rows| {
        start();
        let memory = alloc(4096);
        let plus = |bytes| at(memory, bytes);
        rows.is("cuMemsetD32 at +1", code!(cuMemsetD32_v2(plus(1), 0, 1)), 1);
        rows.is("cuMemsetD32 at +2", code!(cuMemsetD32_v2(plus(2), 0, 1)), 1);
        rows.is("cuMemsetD16 at +1", code!(cuMemsetD16_v2(plus(1), 0, 1)), 1);
        rows.is("async at +1", code!(cuMemsetD32Async(plus(1), 0, 1, LEGACY)), 1);
        rows.is("cuMemsetD32 at +1 with count 0", code!(cuMemsetD32_v2(plus(1), 0, 0)), 0);
        for pitch in [6, 7, 2, 0] {
            let answers = [1, 2].map(|height| code!(cuMemsetD2D32_v2(memory, pitch, 0, 1, height)));
            rows.is(&format!("cuMemsetD2D32 pitch {pitch}, width 1, height 1, 2"), answers, [0, 1]);
        }
        let answers = [1, 2].map(|height| code!(cuMemsetD2D16_v2(memory, 3, 0, 1, height)));
        rows.is("cuMemsetD2D16 pitch 3, height 1, 2", answers, [0, 1]);
        let answers = [1, 2].map(|height| code!(cuMemsetD2D8_v2(memory, 3, 0, 4, height)));
        rows.is("cuMemsetD2D8 pitch 3 width 4, height 1, 2", answers, [0, 1]);
        let answers = [1, 2].map(|height| code!(cuMemsetD2D32_v2(plus(1), 8, 0, 1, height)));
        rows.is("cuMemsetD2D32 at +1, height 1, 2", answers, [1, 1]);
        let answer = code!(cuMemsetD2D32_v2(memory, 8, 0, 3, 2));
        rows.is("cuMemsetD2D32 width 3 in pitch 8, height 2", answer, 1);
        let answers = [(0, 2), (2, 0)]
            .map(|(width, height)| code!(cuMemsetD2D8_v2(memory, 8, 0, width, height)));
        rows.is("cuMemsetD2D8 width 0, height 0", answers, [0, 0]);
        free(memory);
        end();
    });
}

#[test]
fn wrong_kinds() {
    table!("wrong kinds of memory", |rows| {
        start();
        let (memory, other) = (alloc(4096), alloc(4096));
        let page = pinned(4096);
        let page_address = CUdeviceptr(page as u64);
        let (mut host, mut second) = ([1_u8; 64], [2_u8; 64]);
        let bytes: *mut c_void = host.as_mut_ptr().cast();
        ok!(cuMemsetD8_v2(page_address, 5, 64));
        ok!(cuCtxSynchronize());
        let pinned_as_device = [
            code!(cuMemcpyHtoD_v2(page_address, bytes, 64)),
            code!(cuMemcpyDtoH_v2(bytes, page_address, 64)),
            code!(cuMemsetD8_v2(page_address, 1, 64)),
        ];
        rows.is("pinned as device operand of HtoD, DtoH, memset", pinned_as_device, [0; 3]);
        let answer = code!(cuMemcpyDtoH_v2(as_host(other), memory, 64));
        rows.is("device address as host operand of DtoH", answer, 0);
        let (to, from) = (second.as_mut_ptr() as u64, host.as_ptr() as u64);
        let answer = code!(cuMemcpy(CUdeviceptr(to), CUdeviceptr(from), 64));
        rows.is("cuMemcpy pageable to pageable", answer, 0);
        rows.is("overlapping DtoD", code!(cuMemcpyDtoD_v2(at(memory, 16), memory, 64)), 0);
        let pageable = CUdeviceptr(host.as_ptr() as u64);
        let answers =
            [code!(cuMemsetD8_v2(pageable, 1, 16)), code!(cuMemcpyDtoD_v2(memory, pageable, 16))];
        rows.is("pageable as device operand", answers, [1, 1]);
        let mut ordered = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut ordered, 4096, LEGACY));
        rows.is("cuMemFree of pool memory", code!(cuMemFree_v2(ordered)), 0);
        rows.is("cuMemFreeAsync of plain memory", code!(cuMemFreeAsync(other, LEGACY)), 0);
        wrong_frees(rows, memory, page);
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

/// Copies from in and around a registered page.
fn from_a_registered_page(rows: &mut Rows, target: CUdeviceptr, page: *mut u8) {
    let mut copy = |row: &str, address: *mut u8, bytes: usize, measured: u32| {
        let answers = [
            code!(cuMemcpyHtoD_v2(target, address.cast(), bytes)),
            code!(cuMemcpyHtoDAsync_v2(target, address.cast(), bytes, LEGACY)),
        ];
        rows.is(row, answers, [measured; 2]);
        ok!(cuCtxSynchronize());
    };
    copy("a registered page, 8192 of 4096", page, 8192, 1);
    copy("straddling its end", page.wrapping_add(4000), 200, 1);
    copy("wholly outside", page.wrapping_sub(4096), 4096, 0);
}

fn wrong_frees(rows: &mut Rows, memory: CUdeviceptr, page: *mut u8) {
    let mapped = Virtual::new(2 << 20, CUmemAllocationHandleType(0));
    rows.is("cuMemFree of VMM", code!(cuMemFree_v2(mapped.address)), 1);
    mapped.end();
    rows.is("cuMemFree of an interior pointer", code!(cuMemFree_v2(at(memory, 256))), 1);
    rows.is("cuMemFree of a host pointer", code!(cuMemFree_v2(CUdeviceptr(page as u64))), 1);
    let interior = page.wrapping_add(256).cast();
    rows.is("cuMemFreeHost of an interior pointer", code!(cuMemFreeHost(interior)), 1);
    rows.is("cuMemFreeHost of a device pointer", code!(cuMemFreeHost(as_host(memory))), 1);
    free(memory);
    rows.is("cuMemFree twice", code!(cuMemFree_v2(memory)), 1);
}
