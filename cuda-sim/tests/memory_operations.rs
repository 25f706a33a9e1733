//! Streams that wait for words of memory and write them; and the report of a wait without end.

mod common;
mod remote;

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;
use remote::*;

const GEQ: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ.0;
const EQ: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;

/// Returns a word of pinned memory as the host sees it, and its address.
fn flag() -> (&'static AtomicU32, CUdeviceptr) {
    let page = pinned(64);
    // SAFETY: the memory is aligned, zeroed, and never freed before the test is over.
    let word = unsafe { AtomicU32::from_ptr(page.cast()) };
    word.store(0, Ordering::Release);
    (word, CUdeviceptr(page as u64))
}

fn zeroed(bytes: usize) -> CUdeviceptr {
    let memory = alloc(bytes);
    write(memory, &vec![0; bytes]);
    memory
}

#[test]
fn a_stream_waits_for_what_another_writes() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (left, right) = (stream(1), stream(1));
        let (word, data, copy) = (zeroed(8), zeroed(64), zeroed(64));
        for round in 1..4_u8 {
            // The wait is queued first.
            ok!(cuStreamWaitValue32_v2(right, word, round.into(), GEQ));
            ok!(cuMemcpyDtoDAsync_v2(copy, data, 64, right));
            ok!(cuMemsetD8Async(data, round, 64, left));
            ok!(cuStreamWriteValue32_v2(left, word, round.into(), 0));
            ok!(cuStreamSynchronize(right));
            assert_eq!(read(copy, 64), [round; 64]);
            ok!(cuStreamSynchronize(left));
        }
        // The other way round, of 64 bits; a loop of queries ends too.
        ok!(cuStreamWriteValue64_v2(left, word, 1 << 40, 0));
        ok!(cuStreamWaitValue64_v2(right, word, 1 << 40, EQ));
        while code!(cuStreamQuery(right)) == 600 {}
        ok!(cuStreamQuery(right));
        ok!(cuCtxSynchronize());
        for stream in [left, right] {
            ok!(cuStreamDestroy_v2(stream));
        }
        for memory in [word, data, copy] {
            free(memory);
        }
        end();
    });
}

#[test]
fn the_host_ends_a_wait() {
    isolated!(Config::new()).run_on_every_scheduler(0, || {
        start();
        let (stream, memory) = (stream(1), zeroed(4));
        let (word, address) = flag();
        ok!(cuStreamWaitValue32_v2(stream, address, 5, EQ));
        ok!(cuMemsetD8Async(memory, 9, 4, stream));
        for _ in 0..10 {
            assert_eq!(code!(cuStreamQuery(stream)), 600);
        }
        // Longer than a wait that nothing could end would be borne.
        let host = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1200));
            word.store(5, Ordering::Release);
        });
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(memory, 4), [9; 4]);
        assert!(host.join().is_ok());
        ok!(cuStreamWriteValue32_v2(stream, address, 6, 1));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(word.load(Ordering::Acquire), 6);
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        ok!(cuMemFreeHost(as_host(address)));
        end();
    });
}

#[test]
fn a_wait_that_nothing_ends_is_reported() {
    let config = Config::new().host_function_patience(Duration::from_millis(2));
    isolated!(config).unchecked().run_on_every_scheduler(2, || {
        start();
        let (stream, word, other) = (stream(1), zeroed(4), zeroed(64));
        ok!(cuStreamWaitValue32_v2(stream, word, 1, EQ));
        ok!(cuMemsetD8Async(other, 1, 64, stream));
        assert_eq!(code!(cuStreamSynchronize(stream)), 702);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Blocked), 1, "{report}");
        let text = report.to_string();
        assert!(text.contains("cuStreamWaitValue32_v2's addr"), "{text}");
        assert!(text.contains(": cuStreamSynchronize"), "{text}");
        assert!(text.contains("blocked for ever"), "{text}");
        // Nothing of it ran, and another stream still works.
        assert_eq!(read(other, 64), [0; 64]);
        assert_eq!(cuda_sim::report().pending, 2);
        ok!(cuStreamWriteValue32_v2(LEGACY, word, 1, 0));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(other, 64), [1; 64]);
    });
}

#[test]
fn another_thread_queues_what_ends_a_wait() {
    on_every_scheduler!(Config::new(), || {
        let context = start();
        let (stream, word) = (stream(1), zeroed(4));
        ok!(cuStreamWaitValue32_v2(stream, word, 3, EQ));
        let address = word;
        let context = context.expose_provenance();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(context)));
            ok!(cuStreamWriteValue32_v2_ptsz(LEGACY, address, 3, 0));
            ok!(cuStreamSynchronize_ptsz(LEGACY));
        });
        ok!(cuStreamSynchronize(stream));
        assert!(other.join().is_ok());
        ok!(cuStreamDestroy_v2(stream));
        free(word);
        end();
    });
}

#[test]
fn what_is_no_word_is_refused() {
    isolated!(Config::new(), || {
        start();
        let (stream, word) = (stream(1), zeroed(64));
        let mut local = 0_u64;
        let pageable = CUdeviceptr((&raw mut local).expose_provenance() as u64);
        for (address, flags, answer) in [
            (at(word, 2), EQ, 1),
            (at(word, 64), EQ, 1),
            (pageable, EQ, 1),
            (CUdeviceptr(0), EQ, 1),
            (word, 4, 1),
            (word, 1 << 30, 801),
        ] {
            assert_eq!(code!(cuStreamWaitValue32_v2(stream, address, 0, flags)), answer);
        }
        assert_eq!(code!(cuStreamWaitValue64_v2(stream, at(word, 4), 0, GEQ)), 1);
        assert_eq!(code!(cuStreamWriteValue32_v2(stream, at(word, 1), 0, 0)), 1);
        assert_eq!(code!(cuStreamWriteValue32_v2(stream, word, 0, 2)), 1);
        ok!(cuStreamBatchMemOp_v2(stream, 0, ptr::null_mut(), 0));
        assert_eq!(code!(cuStreamBatchMemOp_v2(stream, 1, ptr::null_mut(), 0)), 1);
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(word);
        end();
    });
}

fn write_operation(address: CUdeviceptr, value: u32) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::zeroed();
    let mut write = CUstreamMemOpWriteValueParams_st::zeroed();
    write.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.address = address;
    write.set_value(value);
    operation.writeValue = write;
    operation
}

fn wait_operation(address: CUdeviceptr, value: u64) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::zeroed();
    let mut wait = CUstreamMemOpWaitValueParams_st::zeroed();
    wait.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_64;
    wait.address = address;
    wait.flags = EQ;
    wait.set_value64(value);
    operation.waitValue = wait;
    operation
}

#[test]
fn a_batch_is_queued_in_its_order_or_not_at_all() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (stream, words) = (stream(1), zeroed(64));
        let mut barrier = CUstreamBatchMemOpParams::zeroed();
        barrier.memoryBarrier.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER;
        let mut operations = [
            write_operation(words, 7),
            write_operation(at(words, 4), 1),
            barrier,
            wait_operation(words, 7 | 1 << 32),
            write_operation(at(words, 8), 3),
        ];
        ok!(cuStreamBatchMemOp_v2(stream, 5, operations.as_mut_ptr(), 0));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(words, 12), [7, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
        let mut unknown = CUstreamBatchMemOpParams::zeroed();
        unknown.operation = CUstreamBatchMemOpType(77);
        let mut flush = CUstreamBatchMemOpParams::zeroed();
        flush.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        for (refused, answer) in [(write_operation(at(words, 2), 1), 1), (unknown, 1), (flush, 801)]
        {
            let mut operations = [write_operation(words, 99), refused];
            assert_eq!(code!(cuStreamBatchMemOp_v2(stream, 2, operations.as_mut_ptr(), 0)), answer);
        }
        assert_eq!(code!(cuStreamBatchMemOp_v2(stream, 1, operations.as_mut_ptr(), 1)), 1);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(words, 4), [7, 0, 0, 0]);
        ok!(cuStreamDestroy_v2(stream));
        free(words);
        end();
    });
}

#[test]
fn only_work_behind_a_wait_may_be_ordered_by_its_value() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(2, || {
        start();
        let (left, right, memory, word) = (stream(1), stream(1), alloc(64), zeroed(4));
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuStreamWriteValue32_v2(left, word, 1, 0));
        ok!(cuStreamWaitValue32_v2(right, word, 1, EQ));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
        ok!(cuCtxSynchronize());
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        // A stream that has not waited is compared as ever.
        let (third, fourth) = (stream(1), stream(1));
        ok!(cuMemsetD8Async(memory, 1, 64, third));
        ok!(cuMemsetD8Async(memory, 2, 64, fourth));
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 1);
    });
}

#[test]
fn memory_is_freed_in_which_a_stream_waits() {
    let config = Config::new().host_function_patience(Duration::from_millis(2));
    isolated!(config).unchecked().run_on_every_scheduler(2, || {
        start();
        let (left, right, mut word) = (stream(1), stream(1), CUdeviceptr(0));
        ok!(cuMemAllocAsync(&mut word, 64, left));
        ok!(cuMemsetD8Async(word, 0, 64, left));
        ok!(cuStreamSynchronize(left));
        ok!(cuStreamWaitValue32_v2(right, word, 1, EQ));
        ok!(cuMemFreeAsync(word, left));
        ok!(cuStreamSynchronize(left));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::UseAfterFree), 1, "{report}");
        assert_eq!(code!(cuStreamSynchronize(right)), 702);
        assert_eq!(cuda_sim::report().count(FindingKind::Blocked), 1);
    });
}

#[test]
fn another_process_ends_a_wait() {
    two_processes!(|| {
        start();
        let (stream, word) = (stream(1), zeroed(64));
        let (_, handle) = handle_of(word);
        let mut remote = Remote::start();
        let (answer, address) = remote.open(handle);
        assert_eq!(answer, 0);
        ok!(cuStreamWaitValue32_v2(stream, word, 0x0909_0909, EQ));
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1200));
            assert_eq!(remote.code(&format!("fill {address} 9 4")), 0);
            remote
        });
        ok!(cuStreamSynchronize(stream));
        let mut remote = other.join().unwrap_or_else(|_| panic!("the other thread failed"));
        assert_eq!(remote.code(&format!("close {address}")), 0);
        remote.end();
        ok!(cuStreamDestroy_v2(stream));
        free(word);
        end();
    });
}

#[test]
fn a_host_function_behind_a_wait_runs_by_itself() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        /// Sets the word that it is given.
        unsafe extern "system" fn set(word: *mut std::ffi::c_void) {
            // SAFETY: the test gives it a word that lives longer.
            unsafe { AtomicU32::from_ptr(word.cast()) }.store(7, Ordering::Release);
        }
        start();
        let stream = stream(1);
        let ((first, first_address), (second, second_address)) = (flag(), flag());
        ok!(cuStreamWaitValue32_v2(stream, first_address, 1, EQ));
        ok!(cuLaunchHostFunc(stream, Some(set), as_host(second_address)));
        thread::sleep(Duration::from_millis(60));
        assert_eq!(second.load(Ordering::Acquire), 0);
        first.store(1, Ordering::Release);
        while second.load(Ordering::Acquire) != 7 {
            thread::yield_now();
        }
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuMemFreeHost(as_host(first_address)));
        ok!(cuMemFreeHost(as_host(second_address)));
        end();
    });
}

#[test]
fn an_error_that_stays_ends_the_waits_of_its_context() {
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    isolated!(Config::new().break_context("cuMemsetD8Async", 1, code)).unchecked().run(|| {
        start();
        let (stream, word) = (stream(1), zeroed(64));
        ok!(cuStreamWaitValue32_v2(stream, word, 1, EQ));
        assert_eq!(code!(cuMemsetD8Async(word, 1, 64, stream)), 700);
        // It drains what is queued, and is not kept by the wait.
        assert_eq!(code!(cuMemFree_v2(word)), 700);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Blocked), 0, "{report}");
        assert_eq!(report.pending, 0);
    });
}

#[test]
fn a_word_of_virtual_memory_needs_access() {
    isolated!(Config::new(), || {
        start();
        let mut properties = CUmemAllocationProp::zeroed();
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        let (mut physical, mut word, stream) = (Default::default(), CUdeviceptr(0), stream(1));
        ok!(cuMemCreate(&mut physical, 2 << 20, &properties, 0));
        ok!(cuMemAddressReserve(&mut word, 2 << 20, 0, CUdeviceptr(0), 0));
        ok!(cuMemMap(word, 2 << 20, 0, physical, 0));
        assert_eq!(code!(cuStreamWaitValue32_v2(stream, word, 1, EQ)), 1);
        assert_eq!(code!(cuStreamWriteValue32_v2(stream, word, 1, 0)), 1);
        let mut access = CUmemAccessDesc::zeroed();
        access.location = properties.location;
        access.flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        ok!(cuMemSetAccess(word, 2 << 20, &access, 1));
        ok!(cuStreamWriteValue32_v2(stream, word, 1, 0));
        ok!(cuStreamWaitValue32_v2(stream, word, 1, EQ));
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuMemUnmap(word, 2 << 20));
        ok!(cuMemRelease(physical));
        ok!(cuMemAddressFree(word, 2 << 20));
        end();
    });
}
