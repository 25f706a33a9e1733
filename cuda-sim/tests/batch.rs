//! Copies in batches and with attributes. All answers are manual.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;

type Order = CUmemcpySrcAccessOrder;

const STREAM: Order = Order::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
const CALL: Order = Order::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
const ANY: Order = Order::CU_MEMCPY_SRC_ACCESS_ORDER_ANY;

/// Queues copies of bytes, each of one order, and returns the code and which failed.
fn batch(
    copies: &[(CUdeviceptr, CUdeviceptr, usize)],
    order: Order,
    stream: CUstream,
) -> (u32, usize) {
    let mut to: Vec<_> = copies.iter().map(|copy| copy.0).collect();
    let mut from: Vec<_> = copies.iter().map(|copy| copy.1).collect();
    let mut sizes: Vec<_> = copies.iter().map(|copy| copy.2).collect();
    let mut attributes = CUmemcpyAttributes::zeroed();
    attributes.srcAccessOrder = order;
    let (mut start, mut failed) = (0_usize, 77);
    let answer = code!(cuMemcpyBatchAsync(
        to.as_mut_ptr(),
        from.as_mut_ptr(),
        sizes.as_mut_ptr(),
        copies.len(),
        &mut attributes,
        &mut start,
        1,
        &mut failed,
        stream
    ));
    (answer, failed)
}

fn host_address(bytes: *mut u8) -> CUdeviceptr {
    CUdeviceptr(bytes.expose_provenance() as u64)
}

#[test]
fn all_copies_of_a_batch_are_done_in_the_order_of_the_stream() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (memory, other, stream, page) = (alloc(64), alloc(64), stream(1), pinned(64));
        let mut bytes = [5_u8; 16];
        ok!(cuMemsetD8Async(memory, 1, 64, stream));
        let copies = [
            (other, memory, 16),
            (at(other, 16), host_address(bytes.as_mut_ptr()), 16),
            (host_address(page), at(memory, 8), 32),
        ];
        assert_eq!(batch(&copies, STREAM, stream).0, 0);
        ok!(cuMemsetD8Async(memory, 2, 64, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(other, 32), [[1_u8; 16], [5; 16]].concat());
        // SAFETY: the copy to the page is done.
        assert_eq!(unsafe { std::slice::from_raw_parts(page, 32) }, [1; 32]);
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuMemFreeHost(page.cast()));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn a_batch_is_queued_whole_or_not_at_all() {
    isolated!(Config::new(), || {
        start();
        let (memory, other, stream) = (alloc(64), alloc(64), stream(1));
        ok!(cuMemsetD8_v2(memory, 1, 64));
        ok!(cuMemsetD8_v2(other, 2, 64));
        ok!(cuCtxSynchronize());
        let copies = [(other, memory, 16), (at(other, 32), memory, 65), (other, memory, 1)];
        assert_eq!(batch(&copies, STREAM, stream), (1, 1));
        let good = [(other, memory, 16)];
        assert_eq!(batch(&good, STREAM, LEGACY).0, 1);
        assert_eq!(batch(&good, CUmemcpySrcAccessOrder(0), stream).0, 1);
        assert_eq!(batch(&[], STREAM, stream).0, 1);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(other, 64), [2; 64]);
        // Attributes begin with the first copy, and each behind the one before.
        let (mut to, mut from, mut sizes) = ([other; 2], [memory; 2], [0_usize; 2]);
        let mut attributes = [CUmemcpyAttributes::zeroed(); 2];
        for attributes in &mut attributes {
            attributes.srcAccessOrder = ANY;
        }
        for (mut starts, answer) in [([0_usize, 1], 0), ([1, 2], 1), ([0, 0], 1), ([0, 2], 1)] {
            let found = code!(cuMemcpyBatchAsync_v2(
                to.as_mut_ptr(),
                from.as_mut_ptr(),
                sizes.as_mut_ptr(),
                2,
                attributes.as_mut_ptr(),
                starts.as_mut_ptr(),
                2,
                stream
            ));
            assert_eq!(found, answer, "{starts:?}");
        }
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn nothing_orders_the_copies_of_a_batch() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(2, || {
        start();
        let (memory, other, stream) = (alloc(64), alloc(64), stream(1));
        let disjoint = [(other, memory, 16), (at(other, 16), memory, 16)];
        assert_eq!(batch(&disjoint, STREAM, stream).0, 0);
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        let chained = [(other, memory, 16), (at(memory, 32), at(other, 8), 16)];
        assert_eq!(batch(&chained, STREAM, stream).0, 0);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Race), 1, "{report}");
        let twice = [(at(other, 32), memory, 16), (at(other, 40), memory, 16)];
        assert_eq!(batch(&twice, STREAM, stream).0, 0);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Race), 2, "{report}");
        assert_eq!(report.findings.len(), 2, "{report}");
    });
}

#[test]
fn the_order_of_reading_says_whose_the_source_is() {
    for_orders(CALL, 0);
}

#[test]
fn a_source_that_is_read_later_must_not_change() {
    for_orders(STREAM, 1);
}

#[test]
fn a_source_that_may_be_read_later_must_not_change() {
    for_orders(ANY, 1);
}

/// Changes the pinned source of a copy that is queued, which the order allows or does not.
fn for_orders(order: Order, findings: usize) {
    let test = match order {
        CALL => "the_order_of_reading_says_whose_the_source_is",
        STREAM => "a_source_that_is_read_later_must_not_change",
        _ => "a_source_that_may_be_read_later_must_not_change",
    };
    let config = Config::new().scheduler(Scheduler::Lazy);
    cuda_sim::Isolated::new(test, config).unchecked().run(|| {
        start();
        let (memory, stream, page) = (alloc(64), stream(1), pinned(64));
        // SAFETY: nothing else touches the page yet.
        unsafe { page.write_bytes(1, 64) };
        assert_eq!(batch(&[(memory, host_address(page), 64)], order, stream).0, 0);
        // SAFETY: as the test means to show, or to show that it is wrong.
        unsafe { page.write_bytes(2, 64) };
        ok!(cuStreamSynchronize(stream));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::HostSourceChanged), findings, "{report}");
        if findings == 0 {
            assert_eq!(read(memory, 64), [1; 64]);
        }
    });
}

fn memory_operand(address: CUdeviceptr, row: usize, rows: usize) -> CUmemcpy3DOperand {
    let mut operand = CUmemcpy3DOperand::zeroed();
    operand.type_ = CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER;
    let mut pointer = CUmemcpy3DOperand_v1_op_ptr::zeroed();
    (pointer.ptr, pointer.rowLength, pointer.layerHeight) = (address, row, rows);
    operand.op.ptr = pointer;
    operand
}

fn array_operand(array: CUarray, [x, y, z]: [usize; 3]) -> CUmemcpy3DOperand {
    let mut operand = CUmemcpy3DOperand::zeroed();
    operand.type_ = CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY;
    operand.op.array = CUmemcpy3DOperand_v1_op_array { array, offset: CUoffset3D { x, y, z } };
    operand
}

fn operation(
    to: CUmemcpy3DOperand,
    from: CUmemcpy3DOperand,
    [width, height, depth]: [usize; 3],
) -> CUDA_MEMCPY3D_BATCH_OP {
    let mut operation = CUDA_MEMCPY3D_BATCH_OP::zeroed();
    (operation.dst, operation.src) = (to, from);
    operation.extent = CUextent3D { width, height, depth };
    operation.srcAccessOrder = STREAM;
    operation
}

#[test]
fn boxes_are_counted_in_elements_of_the_array() {
    on_every_scheduler!(Config::new(), || {
        start();
        let stream = stream(1);
        let mut shape = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
        (shape.Width, shape.Height, shape.Depth) = (4, 3, 2);
        (shape.Format, shape.NumChannels) = (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16, 2);
        let mut array = ptr::null_mut();
        ok!(cuArray3DCreate_v2(&mut array, &shape));
        let (memory, back) = (alloc(4 * 4 * 3 * 2), alloc(64));
        let from: Vec<u8> = (0..96).collect();
        write(memory, &from);
        write(back, &[0; 64]);
        let whole =
            operation(array_operand(array, [0, 0, 0]), memory_operand(memory, 0, 0), [4, 3, 2]);
        let mut whole = [whole];
        ok!(cuMemcpy3DBatchAsync_v2(1, whole.as_mut_ptr(), 0, stream));
        // Two rows of two elements, to rows of three elements.
        let mut part =
            operation(memory_operand(back, 3, 2), array_operand(array, [1, 1, 1]), [2, 2, 1]);
        ok!(cuMemcpy3DBatchAsync_v2(1, &mut part, 0, stream));
        ok!(cuStreamSynchronize(stream));
        let found = read(back, 20);
        assert_eq!(found[..8], from[48 + 16 + 4..][..8]);
        assert_eq!(found[8..12], [0; 4]);
        assert_eq!(found[12..20], from[48 + 32 + 4..][..8]);
        // Past the array's end, rows shorter than the box, no box.
        let mut failed = 77;
        for (to, from, size) in [
            (memory_operand(back, 0, 0), array_operand(array, [3, 0, 0]), [2, 1, 1]),
            (memory_operand(back, 1, 0), array_operand(array, [0, 0, 0]), [2, 2, 1]),
            (memory_operand(back, 0, 0), array_operand(array, [0, 0, 0]), [0, 1, 1]),
        ] {
            let mut both = [whole[0], operation(to, from, size)];
            let answer = code!(cuMemcpy3DBatchAsync(2, both.as_mut_ptr(), &mut failed, 0, stream));
            assert_eq!((answer, failed), (1, 1));
        }
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuArrayDestroy(array));
        free(memory);
        free(back);
        end();
    });
}

#[test]
fn single_copies_have_attributes_too() {
    // They came with 13.2.
    on_every_scheduler!(Config::new().version(Version::new(13, 2)), || {
        start();
        let (memory, other, stream) = (alloc(64), alloc(64), stream(1));
        write(memory, &[1; 64]);
        write(other, &[2; 64]);
        let mut attributes = CUmemcpyAttributes::zeroed();
        attributes.srcAccessOrder = STREAM;
        ok!(cuMemcpyWithAttributesAsync(other, memory, 16, &mut attributes, stream));
        let (to, from) = (memory_operand(at(other, 32), 8, 0), memory_operand(memory, 8, 0));
        let mut rows = operation(to, from, [4, 2, 1]);
        ok!(cuMemcpy3DWithAttributesAsync(&mut rows, 0, stream));
        ok!(cuStreamSynchronize(stream));
        let mut expected = [2; 64];
        for range in [0..16, 32..36, 40..44] {
            expected[range].fill(1);
        }
        assert_eq!(read(other, 64), expected);
        attributes.flags = 2;
        assert_eq!(
            code!(cuMemcpyWithAttributesAsync(other, memory, 16, &mut attributes, stream)),
            1
        );
        assert_eq!(code!(cuMemcpy3DWithAttributesAsync(&mut rows, 1, stream)), 1);
        assert_eq!(code!(cuMemcpy3DWithAttributesAsync(ptr::null_mut(), 0, stream)), 1);
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn a_capture_takes_no_batch() {
    isolated!(Config::new(), || {
        start();
        let (memory, other, stream) = (alloc(64), alloc(64), stream(1));
        let mut graph = ptr::null_mut();
        ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode(0)));
        assert_eq!(batch(&[(memory, other, 16)], STREAM, stream).0, 900);
        assert_eq!(code!(cuStreamEndCapture(stream, &mut graph)), 901);
        assert!(graph.is_null());
        assert_eq!(batch(&[(memory, other, 16)], STREAM, stream).0, 0);
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        free(other);
        end();
    });
}
