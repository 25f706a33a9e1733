//! What contexts and streams are set to and told, and what a whole context waits for.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;

#[test]
fn limits_and_preferences_are_a_context_s_own() {
    isolated!(Config::new(), || {
        let primary = start();
        let mut value = 0;
        ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 4096));
        ok!(cuCtxGetLimit(&mut value, CUlimit::CU_LIMIT_STACK_SIZE));
        assert_eq!(value, 4096);
        assert_eq!(code!(cuCtxSetLimit(CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129)), 1);
        let other_devices = CUlimit::CU_LIMIT_CIG_ENABLED;
        for (limit, answer) in [(other_devices, 215), (CUlimit(999), 1)] {
            assert_eq!(code!(cuCtxSetLimit(limit, 1)), answer);
            assert_eq!(code!(cuCtxGetLimit(&mut value, limit)), answer);
        }
        ok!(cuCtxSetCacheConfig(CUfunc_cache::CU_FUNC_CACHE_PREFER_L1));
        assert_eq!(code!(cuCtxSetCacheConfig(CUfunc_cache(4))), 1);
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        ok!(cuCtxGetLimit(&mut value, CUlimit::CU_LIMIT_STACK_SIZE));
        assert_ne!(value, 4096);
        ok!(cuCtxDestroy_v2(other));
        ok!(cuCtxSetCurrent(primary));
        let mut device = CUdevice(9);
        ok!(cuCtxGetDevice(&mut device));
        assert_eq!(device, CUdevice(0));
        ok!(cuCtxResetPersistingL2Cache());
        end();
        assert_eq!(code!(cuCtxGetLimit(&mut value, CUlimit::CU_LIMIT_STACK_SIZE)), 201);
    });
}

#[test]
fn what_contexts_refuse() {
    isolated!(Config::new(), || {
        start();
        assert_eq!(code!(cuCtxSetFlags(3)), 1);
        assert_eq!(code!(cuCtxSetFlags(1 << 20)), 1);
        ok!(cuCtxSetFlags(4));
        let mut flags = 0;
        ok!(cuCtxGetFlags(&mut flags));
        assert_eq!(flags & 7, 4);
        let mut affinity = CUexecAffinityParam::zeroed();
        let kind = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
        assert_eq!(code!(cuCtxGetExecAffinity(&mut affinity, kind)), 224);
        assert_eq!(code!(cuCtxSetSharedMemConfig(CUsharedconfig(3))), 1);
        ok!(cuCtxSetSharedMemConfig(CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
        end();
    });
}

#[test]
fn a_context_is_destroyed_by_the_last_who_detaches() {
    isolated!(Config::new(), || {
        ok!(cuInit(0));
        let (mut made, mut again) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuCtxCreate_v2(&mut made, 0, CUdevice(0)));
        assert_eq!(code!(cuCtxAttach(&mut again, 1)), 1);
        ok!(cuCtxAttach(&mut again, 0));
        assert_eq!(made, again);
        ok!(cuCtxDetach(made));
        free(alloc(64));
        ok!(cuCtxDetach(made));
        let mut current = made;
        ok!(cuCtxGetCurrent(&mut current));
        assert!(current.is_null());
        assert!(cuda_sim::finish().is_clean(), "{}", cuda_sim::finish());
    });
}

#[test]
fn an_event_records_a_whole_context() {
    on_every_scheduler!(Config::new(), || {
        let context = start();
        let (left, right, memory, other) = (stream(1), stream(0), alloc(64), alloc(64));
        let (done, more, third) = (event(), event(), stream(1));
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuMemsetD8Async(other, 2, 64, right));
        ok!(cuCtxRecordEvent(context, done));
        ok!(cuStreamWaitEvent(third, done, 0));
        ok!(cuMemcpyDtoDAsync_v2(memory, other, 32, third));
        ok!(cuEventSynchronize(done));
        ok!(cuStreamSynchronize(third));
        assert_eq!(read(memory, 64), [[2_u8; 32], [1; 32]].concat());
        // And a whole context waits: streams that are there, and those that come.
        ok!(cuMemsetD8Async(memory, 3, 64, left));
        ok!(cuEventRecord(done, left));
        ok!(cuCtxWaitEvent(context, done));
        // A second one does not take the place of the first.
        ok!(cuEventRecord(more, right));
        ok!(cuCtxWaitEvent(context, more));
        let fourth = stream(1);
        ok!(cuMemcpyDtoDAsync_v2(other, memory, 16, third));
        ok!(cuMemcpyDtoDAsync_v2(at(other, 16), memory, 16, fourth));
        ok!(cuCtxSynchronize());
        assert_eq!(read(other, 32), [3; 32]);
        for stream in [left, right, third, fourth] {
            ok!(cuStreamDestroy_v2(stream));
        }
        ok!(cuEventDestroy_v2(done));
        ok!(cuEventDestroy_v2(more));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn events_of_other_contexts_are_not_recorded_for_a_whole_one() {
    isolated!(Config::new(), || {
        let primary = start();
        let theirs = event();
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        assert_eq!(code!(cuCtxRecordEvent(other, theirs)), 400);
        ok!(cuCtxRecordEvent(primary, theirs));
        ok!(cuCtxWaitEvent(other, theirs));
        ok!(cuCtxDestroy_v2(other));
        ok!(cuCtxSetCurrent(primary));
        ok!(cuEventDestroy_v2(theirs));
        end();
    });
}

#[test]
fn stream_attributes_are_kept_and_copied() {
    isolated!(Config::new(), || {
        start();
        let (first, second) = (stream(1), stream(1));
        let mut value = CUstreamAttrValue::zeroed();
        value.syncPolicy = CUsynchronizationPolicy::CU_SYNC_POLICY_YIELD;
        let policy = CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY;
        ok!(cuStreamSetAttribute(first, policy, &value));
        let mut found = CUstreamAttrValue::zeroed();
        ok!(cuStreamGetAttribute(second, policy, &mut found));
        // SAFETY: the attribute is a policy.
        assert_eq!(unsafe { found.syncPolicy }, CUsynchronizationPolicy(u32::MAX));
        ok!(cuStreamCopyAttributes(second, first));
        ok!(cuStreamGetAttribute(second, policy, &mut found));
        // SAFETY: the attribute is a policy.
        assert_eq!(unsafe { found.syncPolicy }, CUsynchronizationPolicy::CU_SYNC_POLICY_YIELD);
        value.syncPolicy = CUsynchronizationPolicy(9);
        assert_eq!(code!(cuStreamSetAttribute(first, policy, &value)), 1);
        let unknown = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        assert_eq!(code!(cuStreamGetAttribute(first, unknown, &mut found)), 1);
        let mut window = CUaccessPolicyWindow_v1::zeroed();
        window.hitRatio = 2.0;
        value.accessPolicyWindow = window;
        let kind = CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW;
        assert_eq!(code!(cuStreamSetAttribute(first, kind, &value)), 1);
        value.accessPolicyWindow.hitRatio = 0.5;
        ok!(cuStreamSetAttribute(first, kind, &value));
        let mut priority = 9;
        value = CUstreamAttrValue::zeroed();
        value.priority = -2;
        ok!(cuStreamSetAttribute(first, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
        ok!(cuStreamGetPriority(first, &mut priority));
        assert_eq!(priority, -2);
        ok!(cuStreamDestroy_v2(first));
        ok!(cuStreamDestroy_v2(second));
        end();
    });
}

#[test]
fn streams_know_their_context_and_device() {
    isolated!(Config::new(), || {
        let context = start();
        let (stream, mut found, mut green) = (stream(0), ptr::null_mut(), ptr::dangling_mut());
        ok!(cuStreamGetCtx_v2(stream, &mut found, &mut green));
        assert_eq!(found, context);
        assert!(green.is_null());
        let mut device = CUdevice(9);
        ok!(cuStreamGetDevice(stream, &mut device));
        assert_eq!(device, CUdevice(0));
        ok!(cuCtxSynchronize_v2(context));
        ok!(cuCtxGetDevice_v2(&mut device, context));
        assert_eq!(device, CUdevice(0));
        ok!(cuProfilerStart());
        ok!(cuProfilerStop());
        ok!(cuStreamDestroy_v2(stream));
        end();
    });
}

#[test]
fn a_callback_is_told_its_stream_once() {
    on_every_scheduler!(Config::new(), || {
        /// Counts its calls, and those that aren't as they should be.
        unsafe extern "system" fn count(stream: CUstream, status: CUresult, data: *mut c_void) {
            // SAFETY: the test gives it a word that lives longer.
            let word = unsafe { AtomicU32::from_ptr(data.cast()) };
            let is_right = !stream.is_null() && status == CUresult::CUDA_SUCCESS;
            word.fetch_add(if is_right { 1 } else { 100 }, Ordering::AcqRel);
        }
        start();
        let (stream, memory, page) = (stream(1), alloc(64), pinned(64));
        // SAFETY: nothing else touches the word yet.
        unsafe { page.cast::<u32>().write(0) };
        ok!(cuMemsetD8Async(memory, 1, 64, stream));
        ok!(cuStreamAddCallback(stream, Some(count), page.cast(), 0));
        ok!(cuStreamAddCallback(stream, Some(count), page.cast(), 0));
        ok!(cuStreamSynchronize(stream));
        // SAFETY: nothing else touches the word now.
        assert_eq!(unsafe { page.cast::<u32>().read() }, 2);
        assert_eq!(code!(cuStreamAddCallback(stream, Some(count), page.cast(), 1)), 1);
        assert_eq!(code!(cuStreamAddCallback(stream, None, page.cast(), 0)), 1);
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuMemFreeHost(page.cast()));
        free(memory);
        end();
    });
}

#[test]
fn synchronous_operations_on_marked_memory_wait() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        start();
        let (marked, plain) = (alloc(64), alloc(64));
        let (set, mut found) = (1_u32, 0_u8);
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        ok!(cuPointerSetAttribute((&raw const set).cast(), attribute, marked));
        ok!(cuPointerGetAttribute((&raw mut found).cast(), attribute, marked));
        assert_eq!(found, 1);
        ok!(cuMemsetD8_v2(plain, 1, 64));
        assert_eq!(cuda_sim::report().pending, 1);
        ok!(cuMemsetD8_v2(marked, 1, 64));
        assert_eq!(cuda_sim::report().pending, 0);
        ok!(cuMemcpyDtoD_v2(plain, marked, 64));
        assert_eq!(cuda_sim::report().pending, 0);
        let other = CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
        assert_eq!(code!(cuPointerSetAttribute((&raw const set).cast(), other, marked)), 1);
        assert_eq!(code!(cuPointerSetAttribute(ptr::null(), attribute, marked)), 1);
        assert_eq!(
            code!(cuPointerSetAttribute((&raw const set).cast(), attribute, CUdeviceptr(0x1000))),
            1
        );
        free(marked);
        free(plain);
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 0);
    });
}
