//! What kernels can be given: memory of every kind, views and parts of it, each in its order.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

use cuda_safe::layout::{StridedLayout, s};
use cuda_safe::shim::Kind;
use cuda_safe::sys::CUdeviceptr;
use cuda_safe::{
    Context, DeviceBuffer, External, Function, ManagedBuffer, PinnedBuffer, RegisteredHost, Rule,
    Stream, View, ViewMut, WriteCombinedBuffer, call, copy, inout, input, registered,
};
use cuda_sim::{Config, Feature, Scheduler, is_on_device, isolated, on_every_scheduler};

mod kernels;
use kernels::{kernel, row};

/// Makes two streams, and finds the kernel that adds.
fn scene() -> (Context, Function, [Stream; 2]) {
    let (context, add) = kernel(c"add");
    let streams = [(); 2].map(|()| Stream::new(&context).unwrap());
    (context, add, streams)
}

/// Launches the kernel over eight elements that lie four bytes apart.
macro_rules! add {
    ($add:ident, $stream:expr, $x:expr, $y:expr) => {
        // SAFETY: the kernel touches eight elements of each.
        unsafe { $add.launch(row(8), $stream, (input($x), inout($y), 4_u32, 8_u32)) }
    };
}

#[test]
fn page_locked_memory_by_a_devices_address() {
    on_every_scheduler!(Config::new(), || {
        let (context, add, [first, second]) = scene();
        let mut x = PinnedBuffer::from_slice(&context, &[1_u32; 8]).unwrap();
        let mut y = PinnedBuffer::from_slice(&context, &[10_u32; 8]).unwrap();
        let mut sums = DeviceBuffer::<u32>::filled(&first, 8, 0).unwrap();
        add!(add, &first, &x.on_device(&context).unwrap(), &mut y.on_device_mut(&context).unwrap())
            .unwrap();
        // The other stream waits for the kernel, by either address.
        call::memcpy_htod_async(&mut sums, &y, &second).unwrap();
        add!(add, &second, &y.on_device(&context).unwrap(), &mut sums).unwrap();
        // The CPU waits for the kernel that reads it.
        x.as_mut_slice().unwrap().fill(100);
        add!(add, &first, &x.on_device(&context).unwrap(), &mut sums).unwrap();
        call::memcpy_dtoh_async(&mut y, &sums, &second).unwrap();
        assert_eq!(y.as_slice().unwrap(), [122; 8]);
    });
}

#[test]
fn write_combined_memory_feeds_a_kernel() {
    on_every_scheduler!(Config::new(), || {
        let (context, add, [first, second]) = scene();
        let mut x = WriteCombinedBuffer::from_slice(&context, &[1_u32; 8]).unwrap();
        let mut sums = DeviceBuffer::<u32>::filled(&second, 8, 0).unwrap();
        add!(add, &first, &x.on_device(&context).unwrap(), &mut sums).unwrap();
        // Waits for the kernel.
        x.write(0, &[2; 8]).unwrap();
        add!(add, &second, &x.on_device(&context).unwrap(), &mut sums).unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 8).unwrap();
        copy(&sums.view().unwrap(), &mut answer.view_mut().unwrap(), &first).unwrap();
        assert_eq!(answer.as_slice().unwrap(), [3; 8]);
    });
}

#[test]
fn managed_and_registered_memory() {
    on_every_scheduler!(Config::new(), || {
        let (context, add, [first, second]) = scene();
        let mut managed = ManagedBuffer::filled(&first, 16, 5_u32).unwrap();
        let mut owned = RegisteredHost::new(&context, vec![1_u32; 8]).unwrap();
        let mut part = managed.slice_mut(8..).unwrap();
        add!(add, &second, &owned.on_device(&context).unwrap(), &mut part).unwrap();
        add!(add, &first, &part, &mut owned.on_device_mut(&context).unwrap()).unwrap();
        assert_eq!(managed.as_slice().unwrap()[6..10], [5, 5, 6, 6]);
        assert_eq!(owned.as_slice().unwrap(), [7; 8]);
        let mut borrowed = [1_u32; 8];
        registered(&context, &mut borrowed, |borrowed| {
            add!(add, &second, &managed, &mut borrowed.on_device_mut(&context)?)?;
            let all = borrowed.view()?.on_device(&context)?;
            let mut there = managed.view_mut()?.slice(&s![..8])?;
            add!(add, &first, &all, &mut there)
        })
        .unwrap()
        .unwrap();
        assert_eq!(borrowed, [6; 8]);
        assert_eq!(managed.as_slice().unwrap()[7..9], [11, 6]);
    });
}

#[test]
fn views_are_given_by_their_first_element() {
    on_every_scheduler!(Config::new(), || {
        let (context, add, [first, second]) = scene();
        let numbers: Vec<u32> = (0..16).collect();
        let mut x = PinnedBuffer::from_slice(&context, &numbers).unwrap();
        let mut y = DeviceBuffer::<u32>::filled(&first, 16, 100).unwrap();
        // Every other element, from the second on; the rest is used by the other stream meanwhile.
        let layout = |start| {
            StridedLayout::from_byte_strides(&[8], &[8], 4)
                .unwrap()
                .with_byte_offset(start)
                .unwrap()
        };
        let [mut even, mut odd] = y.view_mut().unwrap().disjoint([layout(0), layout(4)]).unwrap();
        let numbers = x.view().unwrap().on_device(&context).unwrap();
        let uneven = numbers.slice(&s![1..;2]).unwrap();
        // SAFETY: the kernel touches eight elements of each, eight bytes apart.
        unsafe { add.launch(row(8), &first, (input(&uneven), inout(&mut odd), 8_u32, 8_u32)) }
            .unwrap();
        // SAFETY: as above.
        unsafe { add.launch(row(8), &second, (input(&uneven), inout(&mut even), 8_u32, 8_u32)) }
            .unwrap();
        // SAFETY: as above.
        let both =
            unsafe { add.launch(row(8), &first, (input(&even), inout(&mut odd), 8_u32, 8_u32)) };
        both.unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 16).unwrap();
        copy(&y.view().unwrap(), &mut answer.view_mut().unwrap(), &second).unwrap();
        let expected: Vec<u32> =
            (0..8).flat_map(|index| [101 + 2 * index, 202 + 4 * index]).collect();
        assert_eq!(answer.as_slice().unwrap(), expected);
        // What is read and written is seen to be the same.
        let all = y.view().unwrap();
        assert_eq!(all.kind(), Kind::Pool);
        x.as_mut_slice().unwrap().fill(0);
    });
}

#[test]
fn interleaved_parts_do_not_wait_for_each_other() {
    let config = Config::new().scheduler(Scheduler::Lazy);
    let config = if is_on_device() { config } else { config.log(true) };
    isolated!(config, || {
        let (context, add, [first, second]) = scene();
        let x = DeviceBuffer::<u32>::filled(&first, 64, 1).unwrap();
        let mut y = DeviceBuffer::<u32>::filled(&first, 64, 1).unwrap();
        first.synchronize().unwrap();
        let layout = |start| {
            StridedLayout::from_byte_strides(&[8], &[8], 4)
                .unwrap()
                .with_byte_offset(start)
                .unwrap()
        };
        let [mut even, mut odd] = y.view_mut().unwrap().disjoint([layout(0), layout(4)]).unwrap();
        for (part, stream) in [(&mut even, &first), (&mut odd, &second)] {
            // SAFETY: the kernel touches eight elements of each, eight bytes apart.
            unsafe { add.launch(row(8), stream, (input(&x), inout(part), 8_u32, 8_u32)) }.unwrap();
        }
        if !is_on_device() {
            let calls = cuda_sim::calls();
            let waits = calls.iter().filter(|call| call.function == "cuStreamWaitEvent").count();
            assert_eq!(waits, 0);
        }
        context.synchronize().unwrap();
    });
}

#[test]
fn copies_are_methods_whatever_both_sides_are() {
    on_every_scheduler!(Config::new(), || {
        let (context, _, [first, second]) = scene();
        let mut pinned = PinnedBuffer::<u32>::zeroed(&context, 8).unwrap();
        let mut there = DeviceBuffer::<u32>::uninitialized(&first, 8).unwrap();
        let mut back = [0_u32; 8];
        there.copy_from(&[1, 2, 3, 4, 5, 6, 7, 8], &first).unwrap();
        pinned.copy_from(&there, &second).unwrap();
        let mut end = there.slice_mut(6..).unwrap();
        end.copy_from(&pinned.slice(..2).unwrap(), &first).unwrap();
        let backwards = pinned.view().unwrap().slice(&s![..4;2]).unwrap();
        let mut pair = there.view_mut().unwrap().slice(&s![1..3]).unwrap();
        pair.copy_from(&backwards, &second).unwrap();
        let layout = StridedLayout::from_byte_strides(&[8], &[4], 4).unwrap();
        let mut target = ViewMut::of_mut_slice(&mut back, layout).unwrap();
        target.copy_from(&there, &first).unwrap();
        assert_eq!(back, [1, 1, 3, 4, 5, 6, 1, 2]);
        let refused = there.copy_from(&vec![0; 7], &first).unwrap_err();
        assert!(refused.to_string().starts_with("layout: "), "{refused}");
    });
}

#[test]
fn memory_that_no_kernel_reaches_is_refused() {
    isolated!(Config::new(), || {
        let (context, add, [first, _]) = scene();
        let mut y = DeviceBuffer::<u32>::filled(&first, 8, 0).unwrap();
        let pinned = PinnedBuffer::from_slice(&context, &[1_u32; 8]).unwrap();
        let refused = add!(add, &first, &pinned.view().unwrap(), &mut y).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "cuLaunchKernel: `arguments` breaks Kind: needs a device's address: `on_device` gives \
             it, has Pinned"
        );
        let local = [1_u32; 8];
        let layout = StridedLayout::from_byte_strides(&[8], &[4], 4).unwrap();
        let view = View::of_slice(&local, layout).unwrap();
        assert_eq!(add!(add, &first, &view, &mut y).unwrap_err().rule(), Some(Rule::Kind));
        assert_eq!(view.on_device(&context).unwrap_err().rule(), Some(Rule::Kind));
    });
}

/// Finds registered memory by the host's address and by the device's.
fn find_by_either_address() {
    let (context, add, [first, second]) = scene();
    let memory = RegisteredHost::new(&context, vec![1_u32; 64]).unwrap();
    let host = memory.as_slice().unwrap().as_ptr().expose_provenance() as u64;
    let device = call::mem_host_get_device_pointer(&context, &memory).unwrap().0;
    let id = memory.allocation().id();
    for address in [host, device] {
        // SAFETY: the memory outlives it, and all go through the calls of this crate.
        let mut external =
            unsafe { External::new(&context, CUdeviceptr(address + 32), 64, ()) }.unwrap();
        assert_eq!((external.kind(), external.allocation().id()), (Kind::Registered, id));
        let layout = StridedLayout::from_byte_strides(&[16], &[4], 4).unwrap();
        {
            let mut there = external.on_device_mut::<u32>(&context).unwrap();
            add!(add, &first, &memory.on_device(&context).unwrap(), &mut there).unwrap();
        }
        let view = View::<u32>::new(&external, layout.clone()).unwrap();
        // Waits for the kernel.
        let before = view.as_slice().unwrap()[0];
        let mut view = ViewMut::<u32>::new(&mut external, layout).unwrap();
        view.as_mut_slice().unwrap()[8..].fill(before);
    }
    assert_eq!(memory.as_slice().unwrap()[7..9], [1, 3]);
    // SAFETY: as above.
    let external = unsafe { External::new(&context, CUdeviceptr(device), 64, ()) }.unwrap();
    let refused = external.on_device::<[u32; 3]>(&context).unwrap_err();
    assert_eq!(refused.rule(), Some(Rule::Quotient));
    let mut answer = DeviceBuffer::<u32>::filled(&first, 16, 0).unwrap();
    let part = external.on_device::<u32>(&context).unwrap();
    call::memcpy_dtod_async(&mut answer, &part, &second).unwrap();
    second.synchronize().unwrap();
}

#[test]
fn memory_of_others_is_found_by_either_address() {
    isolated!(Config::new(), find_by_either_address);
}

#[test]
fn memory_of_others_is_found_where_its_addresses_differ() {
    isolated!(
        Config::new().without(Feature::HostPointerForRegisteredMemory),
        find_by_either_address
    );
}
