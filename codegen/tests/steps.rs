//! The steps of a shim, in the order that never changes, and the contract as data.

#![expect(clippy::allow_attributes, reason = "the toy serves several tests")]

#[path = "toy/shim.rs"]
mod shim;

use std::ffi::{c_char, c_int, c_void};

use cuda_codegen::driver;
use shim::{
    ANSWER, Address, Attribute, BoxCopy, Context, Extent, KIND, Number, OnDevice, Order, Pinned,
    RawStream, Row, Shape, Stream, Unit, steps,
};

/// Copies.
#[driver(tyCopy, order = stream)]
pub fn copy(
    #[device(write, bytes(count), align(4), kind(KIND))] dst @ to: Address,
    #[host(read, bytes(count), until = stream)] src @ from: *const c_void,
    #[from(src.len)] count: usize,
    #[stream] stream: RawStream,
);

/// Fills.
#[driver(tyFillNow, order = default)]
pub fn fill_now(
    #[device(write, bytes(count * 4))] dst @ address: Address,
    #[value] word: u32,
    #[from(dst.len / 4)] count: usize,
);

/// Fills, and is done.
#[driver(tyFillNow, order = host)]
pub fn fill_done(
    #[device(write, bytes(count * 4))] dst @ address: Address,
    #[value] word: u32,
    #[from(dst.len / 4)] count: usize,
);

/// Copies a box.
#[driver(tyBox, order = stream)]
pub fn copy_box(
    #[pack(BoxCopy {
        src: read by from_type {
            host: from_host, device: from_device, pitch: from_pitch, until = stream,
        },
        dst: write by to_type { host: to_host, device: to_device, pitch: to_pitch, until = stream },
        extent(width, height),
        zero(reserved),
    })]
    copy: *const BoxCopy,
    #[stream] stream: RawStream,
);

/// Asks for a name.
#[driver(tyName, home = none)]
pub fn name(#[text(16)] name: *mut c_char, #[from(name.len)] len: c_int, #[handle] unit: Unit);

/// Asks for an attribute.
#[driver(tyAsk)]
pub fn ask(
    #[out(attribute)] data: *mut c_void,
    #[attribute(Attribute)] attribute: u32,
    #[any(share, base)] memory @ address: Address,
);

/// Makes a stream.
#[driver(tyMake, home = given)]
pub fn make(#[out] stream: *mut RawStream, #[from(3)] flags: u32);

/// Copies many.
#[driver(tyBatch, order = stream)]
pub fn batch(
    #[items(count, device(write, bytes(sizes), align(4)))] dsts @ to: *mut Address,
    #[items(count, any(read, bytes(sizes), until = stream))] srcs @ from: *mut Address,
    #[items(count, from(srcs.len))] sizes: *mut usize,
    #[from(dsts.count)] count: usize,
    #[stream] stream: RawStream,
);

/// Calls a closure.
#[driver(tyLater, order = stream, fence)]
pub fn later(
    #[stream] stream: RawStream,
    #[callback] function: shim::Function,
    #[data(function)] data: *mut c_void,
);

/// Runs a kernel.
///
/// # Safety
///
/// None.
#[driver(tyRun, order = stream)]
pub unsafe fn run(
    #[handle] kernel: Unit,
    #[args(kernel)] args: *mut *mut c_void,
    #[stream] stream: RawStream,
);

/// Lists parts.
#[driver(tyParts, home = none)]
pub fn parts(
    #[items(count, out)] parts: *mut Unit,
    #[from(parts.count)] count: *mut usize,
    #[handle] unit: Unit,
);

/// Links.
#[driver(tyLink, home = given)]
pub fn link(
    #[items(count, handle)] ends: *const Unit,
    #[items(count, value, optional)] weights: *const u32,
    #[from(ends.count)] count: usize,
);

/// Reshapes.
#[driver(tyReshape, home = none)]
pub fn reshape(#[record] shape: *mut Shape, #[record(optional)] old: *const Shape);

/// Tells.
#[driver(tyTell, home = none)]
pub fn tell(
    #[attribute(Attribute)] attribute: u32,
    #[value(attribute)] data: *mut c_void,
    #[from(data.len)] size: usize,
);

/// Says.
#[driver(tySay, home = none)]
pub fn say(#[text(kept)] text: *mut *const c_char, #[handle] unit: Unit);

/// Opens.
#[driver(tyOpen, home = none)]
pub fn open(#[out] unit: *mut Unit, #[text] path: *const c_char);

/// Reaches across.
#[driver(tyAcross, order = stream)]
pub fn across(
    #[device(write, bytes(1), peer)] dst @ to: Address,
    #[from(dst.home)] owner: Unit,
    #[stream] stream: RawStream,
);

#[test]
fn lists_take_the_steps_of_their_items() {
    let (mut one, mut other) = (OnDevice(8), OnDevice(8));
    let (result, taken) =
        steps(|| batch(&mut [&mut one, &mut other], &[&Pinned(8), &Pinned(4)], &Stream));
    assert_eq!(result, Ok(()));
    let list = "count reach align reach align";
    let order = format!(
        "present derive derive derive home same same {list} count reach reach count disjoint enter \
         settle call touch check"
    );
    assert_eq!(taken, order);
    let (result, taken) = steps(|| batch(&mut [&mut one], &[&Pinned(9)], &Stream));
    assert_eq!(result, Err("dst: needs 9, has 8".replace("dst", "dsts")));
    assert!(taken.ends_with("same same count reach"), "{taken}");
    let (result, taken) = steps(|| batch(&mut [&mut one], &[&Pinned(8), &Pinned(8)], &Stream));
    assert_eq!(result, Err("srcs: needs 1, has 2".to_owned()));
    assert!(!taken.contains("call"), "{taken}");
}

#[test]
fn other_roles_take_theirs() {
    let (_, taken) = steps(|| later(&Stream, || ()));
    assert_eq!(taken, "present home enter fence post call posted check");
    // SAFETY: the toy runs nothing.
    let (_, taken) = steps(|| unsafe { run(&Unit(1), (), &Stream) });
    assert_eq!(taken, "present home same arity enter settle call touch check");
    let mut room = [Unit(0); 3];
    let (result, taken) = steps(|| parts(&mut room, &Unit(1)));
    assert_eq!((result, taken.as_str()), (Ok(3), "present derive count call check"));
    let (result, taken) = steps(|| link(&Context, &[&Unit(1), &Unit(2)], &[]));
    assert_eq!(result, Ok(()));
    assert_eq!(taken, "present derive home same count count enter call check");
    let (result, _) = steps(|| link(&Context, &[&Unit(1), &Unit(2)], &[1]));
    assert_eq!(result, Err("weights: needs 2, has 1".to_owned()));
    let (_, taken) = steps(|| reshape(&mut Shape::default(), None));
    assert_eq!(taken, "present plain call check");
    let (_, taken) = steps(|| tell::<Number>(7));
    assert_eq!(taken, "present derive call check");
    let (result, _) = steps(|| say(&Unit(1)));
    assert_eq!(result, Ok(String::new()));
    let (result, _) = steps(|| open(c"here"));
    assert_eq!(result, Ok(Unit(0)));
    let (_, taken) = steps(|| across(&mut OnDevice(1), &Stream));
    assert_eq!(taken, "present home home reach enter settle call touch check");
}

#[test]
fn every_step_in_order() {
    let (result, taken) = steps(|| copy(&mut OnDevice(8), &Pinned(8), &Stream));
    assert_eq!(result, Ok(()));
    let order = "present derive home reach align kind reach disjoint enter settle call touch check";
    assert_eq!(taken, order);
}

#[test]
fn a_refusal_ends_the_way() {
    let (result, taken) = steps(|| copy(&mut OnDevice(7), &Pinned(8), &Stream));
    assert_eq!(result, Err("dst: needs 8, has 7".to_owned()));
    assert_eq!(taken, "present derive home reach");
    let (result, taken) = steps(|| fill_now(&mut OnDevice(6), 1));
    assert_eq!(result, Err("dst has a rest".to_owned()));
    assert_eq!(taken, "present");
}

#[test]
fn an_error_leaves_its_use_behind() {
    ANSWER.with_borrow_mut(|answer| *answer = 9);
    let (result, taken) = steps(|| copy(&mut OnDevice(8), &Pinned(8), &Stream));
    ANSWER.with_borrow_mut(|answer| *answer = 0);
    assert_eq!(result, Err("tyCopy: 9".to_owned()));
    assert!(taken.ends_with("settle call touch check"), "{taken}");
}

#[test]
fn each_role_takes_its_steps() {
    let (result, taken) = steps(|| fill_now(&mut OnDevice(8), 1));
    assert_eq!(result, Ok(()));
    assert_eq!(taken, "present derive home reach enter settle call touch check");
    let (_, taken) = steps(|| fill_done(&mut OnDevice(8), 1));
    assert_eq!(taken, "present derive home reach enter settle call check");
    let (_, taken) =
        steps(|| copy_box(&Pinned(8), &mut OnDevice(8), Extent { width: 8, height: 1 }, &Stream));
    assert_eq!(taken, "present home reach reach disjoint enter settle call touch check");
    let (result, taken) = steps(|| name(&Unit(1)));
    assert_eq!((result, taken.as_str()), (Ok(String::new()), "present derive call check"));
    let (result, taken) = steps(|| ask::<Number>(&Pinned(4)));
    assert_eq!((result, taken.as_str()), (Ok(0), "present home base enter call check"));
    let (result, taken) = steps(|| make(&Context));
    assert!(result.unwrap().is_null());
    assert_eq!(taken, "present home enter call check");
}

#[test]
fn the_contract_says_the_same_as_the_signature() {
    assert_eq!((COPY.symbol, COPY.since, &COPY.order), ("tyCopy", 11000, &Some(Order::Stream)));
    let row = |operand, role, access, reach, until| Row { operand, role, access, reach, until };
    assert_eq!(
        COPY.rows,
        [
            row("dst", "device memory", "write", "bytes(count), align(4), kind(KIND)", "stream"),
            row("src", "host memory", "read", "bytes(count)", "stream"),
            row("count", "computed", "", "src.len", ""),
            row("stream", "stream", "", "", ""),
        ]
    );
    assert_eq!(FILL_NOW.rows[0].until, "default stream");
    assert_eq!(FILL_DONE.rows[0].until, "call");
    assert_eq!(ASK.rows[2].until, "");
    assert_eq!(COPY_BOX.rows[1].reach, "extent");
}
