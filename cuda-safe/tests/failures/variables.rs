//! Variables of modules.

use std::ffi::CStr;

use cuda_safe::shim;
use cuda_safe::{Global, LaunchShape, Module, PinnedBuffer, Stream, call, implied, inout};

/// Its kernel does what is registered for it.
const PTX: &CStr = c"
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .global .align 8 .b32 table[4] = {1, 2, 3, 4};
    .visible .entry count(.param .u32 by) { ret; }
";

/// Says what the kernel does: it adds to each element of the table.
fn register() {
    cuda_sim::kernel::register("count", |launch| {
        let (table, by) = (launch.variable("table")?, launch.parameter::<u32>(0)?);
        for index in 0..4 {
            let value = launch.read::<u32>(table, index)?;
            launch.write(table, index, value + by)?;
        }
        Ok(())
    });
}

#[test]
fn variables_are_found_filled_and_used() {
    each_call_fails!([Module::global, Global::fill], |given| {
        register();
        let (context, first) = given.stream()?;
        let second = Stream::new(&context)?;
        let module = Module::from_ptx(&context, PTX)?;
        let count = module.function(c"count")?;
        let mut table = module.global::<u32>(c"table")?;
        table.fill(3, &first)?;
        // SAFETY: the kernel touches four elements of its own variable.
        unsafe {
            count.launch(
                LaunchShape::new([1, 1, 1], [1, 1, 1]),
                &second,
                (1_u32, implied(inout(&mut table))),
            )
        }?;
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 4)?;
        call::memcpy_dtoh_async(&mut answer, &table, &first)?;
        // The stream uses it when the last that keeps the module is dropped.
        drop((module, count, table));
        assert_eq!(answer.as_slice()?, [4; 4]);
        second.synchronize()?;
        first.synchronize()
    });
}

#[test]
fn what_a_variable_knows_without_asking() {
    asks_no_driver!(
        [
            Global::allocation,
            Global::as_device_ptr,
            Global::as_part,
            Global::as_part_mut,
            Global::context,
            Global::is_empty,
            Global::len,
            Global::module,
            Global::slice,
            Global::slice_mut,
            Global::split_at_mut,
            Global::view,
            Global::view_mut,
            implied,
            shim::implied,
        ],
        |given| Module::from_ptx(&given.context()?, PTX)?.global::<u16>(c"table"),
        |mut table: Global<u16>| {
            assert_eq!((table.len(), table.is_empty()), (8, false));
            assert!(table.allocation().len() >= 16);
            assert_eq!(table.context(), table.module().context());
            // SAFETY: the address is only compared.
            assert_ne!(unsafe { table.as_device_ptr() }.0, 0);
            assert_eq!((table.as_part().len(), table.as_part_mut().len()), (8, 8));
            assert_eq!((table.slice(2..)?.len(), table.slice_mut(..2)?.len()), (6, 2));
            assert_eq!(table.split_at_mut(3)?.1.len(), 5);
            assert_eq!(table.view()?.layout().shape(), [8]);
            assert_eq!(table.view_mut()?.layout().shape(), [8]);
            let _named = (implied(inout(&mut table)), ());
            let _named = shim::implied(inout(&mut table));
            Ok(table)
        }
    );
}
