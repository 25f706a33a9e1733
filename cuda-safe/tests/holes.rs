//! What safe code could do with other libraries, each by its number, and what it gets here. Those that
//! don't compile are in `src/holes.md`.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::ffi::CStr;
use std::thread;

use cuda_safe::layout::{Order, StridedLayout};
use cuda_safe::sys::CUresult;
use cuda_safe::{
    Context, Device, DeviceBuffer, Event, ManagedBuffer, Module, PinnedBuffer, Result, Rule,
    Stream, ViewMut, WriteCombinedBuffer, call, copy,
};
use cuda_sim::{Config, Scheduler, is_on_device, isolated};

fn lazy() -> Config {
    let config = Config::new().scheduler(Scheduler::Lazy);
    if is_on_device() { config } else { config.log(true) }
}

fn context() -> (Context, Stream) {
    let context = Device::get(0).unwrap().context().unwrap();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}

/// A slice of page-locked memory is copied to by a device while the CPU has it.
#[test]
fn hole_1_a_pinned_slice_is_done_with_on_return() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let source = DeviceBuffer::filled(&stream, 1 << 20, 7_u8).unwrap();
        let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 1 << 20).unwrap();
        let slice = pinned.as_mut_slice().unwrap();
        let layout = StridedLayout::dense(&[1 << 20], 1, Order::C).unwrap();
        let mut target = ViewMut::of_mut_slice(&mut *slice, layout).unwrap();
        copy(&source.view().unwrap(), &mut target, &stream).unwrap();
        assert!(slice.iter().all(|byte| *byte == 7));
        // And the memory may go at once.
        drop(pinned);
        assert!(stream.is_done().unwrap());
    });
}

/// A code that a newer driver answers is no value of an enum.
#[test]
fn hole_3_an_unknown_code_is_an_error() {
    isolated!(Config::new().initialization(CUresult(987)), || {
        let error = Device::count().unwrap_err();
        assert_eq!((error.call, error.code()), ("cuInit", Some(CUresult(987))));
        assert!(format!("{error:?} {error}").contains("987"));
    });
}

/// A size overflows, and few bytes are allocated for many elements.
#[test]
fn hole_4_a_size_that_overflows_is_refused() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let len = (1_usize << 61) + 4;
        let refused: [Option<Rule>; 7] = [
            DeviceBuffer::<u64>::allocate(&context, len).map(drop),
            DeviceBuffer::<u64>::allocate_pitched(&context, len, 1).map(drop),
            DeviceBuffer::<u64>::zeroed(&stream, len).map(drop),
            DeviceBuffer::filled(&stream, len, 1_u64).map(drop),
            PinnedBuffer::<u64>::uninitialized(&context, len).map(drop),
            WriteCombinedBuffer::<u64>::uninitialized(&context, len).map(drop),
            ManagedBuffer::<u64>::uninitialized(&context, len).map(drop),
        ]
        .map(|answer: Result<()>| answer.unwrap_err().rule());
        assert_eq!(refused, [Some(Rule::Fit); 7]);
        let allocations = cuda_sim::calls();
        let mut allocations = allocations.iter().filter(|call| call.function.contains("Alloc"));
        assert_eq!(allocations.next(), None);
    });
}

/// A module gives the same variable twice, each time to be written.
#[test]
fn hole_6_a_variable_that_is_lent_twice_is_one() {
    const PTX: &CStr = c"
        .version 7.0
        .target sm_70
        .address_size 64
        .visible .global .align 4 .b32 table[64];
    ";
    isolated!(lazy(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let module = Module::from_ptx(&context, PTX).unwrap();
        let [mut one, mut same] = [(); 2].map(|()| module.global::<u32>(c"table").unwrap());
        assert_eq!(one.allocation().id(), same.allocation().id());
        // Streams that use it by either wait for each other.
        for value in 0..100 {
            one.fill(u32::MAX, &first).unwrap();
            same.fill(value, &second).unwrap();
            let mut home = PinnedBuffer::<u32>::zeroed(&context, 64).unwrap();
            call::memcpy_dtoh_async(&mut home, &one, &first).unwrap();
            assert_eq!(home.as_slice().unwrap(), [value; 64]);
        }
        // And no call reads the one while it writes the other.
        let refused = call::memcpy_dtod_async(&mut one, &same, &first).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Disjoint));
    });
}

/// What is no text is taken for an image, whose header says how far to read.
#[test]
fn hole_7_only_a_text_is_ptx() {
    isolated!(lazy(), || {
        let (context, _stream) = context();
        for binary in [c"\x7fELF\x02\x01\x01", c"\x50\xed\x55\xba\x01", c"\x01", c""] {
            let error = Module::from_ptx(&context, binary).unwrap_err();
            assert_eq!(error.rule(), Some(Rule::Ptx), "{binary:?}");
        }
    });
}

/// A buffer is freed, and an event asked, with whatever context the thread has.
#[test]
fn hole_8_drops_and_questions_enter_their_context() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let buffers = (
            DeviceBuffer::<u8>::allocate(&context, 64).unwrap(),
            DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap(),
            PinnedBuffer::<u8>::zeroed(&context, 64).unwrap(),
        );
        let event = Event::new(&context).unwrap();
        event.record(&stream).unwrap();
        // A thread has no context, and one has another one.
        let asked = thread::spawn(move || event.is_done().map(|_| event)).join().unwrap();
        let other = Context::create(Device::get(0).unwrap()).unwrap();
        let work = move || {
            other.run(|| {
                drop((buffers, asked));
                Ok(())
            })
        };
        thread::spawn(work).join().unwrap().unwrap();
        stream.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

/// What one release of CUDA has is gone with the feature of a newer one.
#[test]
fn hole_9_no_feature_chooses_a_release() {
    let manifest = include_str!("../Cargo.toml");
    let (_, features) = manifest.split_once("[features]\n").unwrap();
    let (features, _) = features.split_once("\n[").unwrap();
    let names: Vec<&str> =
        features.lines().filter_map(|line| line.split_once(" = ")).map(|it| it.0).collect();
    assert_eq!(names, ["default", "driver", "half", "ndarray"]);
}
