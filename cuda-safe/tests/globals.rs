//! Variables of modules: what they are, their order, and how long their module stays.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "common/logged.rs"]
mod logged;

use cuda_safe::shim::{Kind, Memory as _};
use cuda_safe::{External, Global, PinnedBuffer, Rule, Stream, call, copy, implied, inout, input};
use cuda_sim::{Config, Feature, is_on_device, isolated, on_every_scheduler};
use cuda_sys::CUresult;

mod kernels;
use kernels::{module, row};
use logged::{context, expect_calls, lazy};

fn read(variable: &Global<u32>, stream: &Stream) -> Vec<u32> {
    let mut answer = PinnedBuffer::<u32>::zeroed(stream.context(), variable.len()).unwrap();
    call::memcpy_dtoh_async(&mut answer, variable, stream).unwrap();
    answer.as_slice().unwrap().to_vec()
}

#[test]
fn a_variable_is_device_memory() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let module = module(&context);
        let mut table = module.global::<u32>(c"table").unwrap();
        assert_eq!((table.len(), table.region().kind()), (4, Kind::Global));
        assert_eq!(read(&table, &first), [1, 2, 3, 4]);
        table.fill(5, &first).unwrap();
        table.slice_mut(2..).unwrap().fill(6, &second).unwrap();
        assert_eq!(read(&table, &first), [5, 5, 6, 6]);
        let values = PinnedBuffer::from_slice(&context, &[7_u32, 8, 9, 10]).unwrap();
        copy(&values.view().unwrap(), &mut table.view_mut().unwrap(), &second).unwrap();
        assert_eq!(read(&table, &first), [7, 8, 9, 10]);
        let factor = module.global::<u8>(c"factor").unwrap();
        assert_eq!(factor.len(), 4);
        assert_eq!(factor.context(), module.context());
    });
}

#[test]
fn what_a_variable_is_not() {
    isolated!(lazy(), || {
        let (context, _stream) = context();
        let module = module(&context);
        let refused = module.global::<[u32; 3]>(c"table").unwrap_err();
        assert_eq!(refused.to_string(), "Module::global: `len` breaks Quotient: needs 12, has 16");
        assert_eq!(module.global::<()>(c"table").unwrap_err().rule(), Some(Rule::Quotient));
        assert_eq!(module.global::<u64>(c"table").unwrap().len(), 2);
        let refused = module.global::<u32>(c"chair").unwrap_err();
        assert_eq!(refused.code(), Some(CUresult::CUDA_ERROR_NOT_FOUND));
    });
}

#[test]
fn kernels_get_it_by_its_address_or_use_it_unasked() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let module = module(&context);
        let (add, count) = (module.function(c"add").unwrap(), module.function(c"count").unwrap());
        let mut table = module.global::<u32>(c"table").unwrap();
        let ones = PinnedBuffer::from_slice(&context, &[1_u32; 4]).unwrap();
        let ones = ones.on_device(&context).unwrap();
        for round in 1..=3 {
            table.fill(round, &first).unwrap();
            // SAFETY: the kernel touches four elements of each.
            unsafe { add.launch(row(4), &second, (input(&ones), inout(&mut table), 4_u32, 4_u32)) }
                .unwrap();
            // SAFETY: the kernel touches four elements of its own variable.
            unsafe { count.launch(row(4), &first, (10_u32, implied(inout(&mut table)))) }.unwrap();
            assert_eq!(read(&table, &second), [round + 11; 4]);
        }
    });
}

/// Uses a variable through two values, and finds it as memory of others if the driver numbers it.
fn share_a_record(numbered: bool) {
    let (context, stream) = context();
    let other = Stream::new(&context).unwrap();
    let module = module(&context);
    let mut table = module.global::<u32>(c"table").unwrap();
    let again = module.clone().global::<u32>(c"table").unwrap();
    table.fill(3, &other).unwrap();
    assert_eq!(read(&again, &stream), [3; 4]);
    let (mut left, _) = table.split_at_mut(2).unwrap();
    let overlapping = again.slice(1..3).unwrap();
    let refused = call::memcpy_dtod_async(&mut left, &overlapping, &stream).unwrap_err();
    assert_eq!(refused.rule(), Some(Rule::Disjoint));
    let factor = module.global::<u32>(c"factor").unwrap();
    call::memcpy_dtod_async(&mut table.slice_mut(..1).unwrap(), &factor, &stream).unwrap();
    assert_eq!(read(&again, &other), [7, 3, 3, 3]);
    if numbered {
        // SAFETY: the address is only made an operand of calls of this crate.
        let address = unsafe { table.as_device_ptr() };
        // SAFETY: the module outlives it.
        match unsafe { External::new(&context, address, 16, ()) } {
            Ok(alias) => assert_eq!(alias.allocation().id(), table.allocation().id()),
            // A driver may have no number for it; the simulator has.
            Err(error) => assert!(is_on_device(), "{error}"),
        }
    }
}

#[test]
fn all_values_of_a_variable_share_its_record() {
    isolated!(Config::new(), || share_a_record(true));
}

#[test]
fn variables_without_a_number_share_one_record() {
    // There the driver says nothing of addresses.
    isolated!(Config::new().without(Feature::UnifiedAddressing), || share_a_record(false));
}

#[test]
fn a_variable_keeps_its_module_loaded() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let table = module(&context).global::<u32>(c"table").unwrap();
        expect_calls("cuModuleUnload", 0);
        assert_eq!(read(&table, &stream), [1, 2, 3, 4]);
        drop(table);
        context.collect();
        expect_calls("cuModuleUnload", 1);
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn a_stream_that_uses_a_variable_keeps_its_module_loaded() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut table = module(&context).global::<u32>(c"table").unwrap();
        table.fill(8, &stream).unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 4).unwrap();
        call::memcpy_dtoh_async(&mut answer, &table, &stream).unwrap();
        drop(table);
        // Its unloading would wait for the stream.
        expect_calls("cuModuleUnload", 0);
        assert_eq!(answer.as_slice().unwrap(), [8; 4]);
        context.collect();
        expect_calls("cuModuleUnload", 1);
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}
