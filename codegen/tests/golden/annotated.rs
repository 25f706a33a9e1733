// The annotations whose expansions stand in `expanded.rs`.

#[driver(tyCopy, order = stream)]
pub fn copy(
    #[device(write, bytes(count), align(4))] dst @ to: Address,
    #[host(read, bytes(count), until = stream)] src @ from: *const c_void,
    #[from(src.len)] count: usize,
    #[stream] stream: RawStream,
);

#[driver(tyFillRows, order = default)]
pub fn fill_rows(
    #[device(write, rows(pitch, width * 4, height), align(4))] dst @ address: Address,
    #[from(dst.pitch)] pitch: usize,
    #[value] word: u32,
    #[from(dst.width / 4)] width: usize,
    #[from(dst.height)] height: usize,
);

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

#[driver(tyAsk)]
pub fn ask(
    #[out(attribute)] data: *mut c_void,
    #[attribute(Attribute)] attribute: u32,
    #[any(share, base)] memory @ address: Address,
);

#[driver(tyFree, home = given)]
/// Frees.
///
/// # Safety
///
/// Nothing uses it.
pub unsafe fn free(#[raw] address: Address);

#[driver(tyName, home = none)]
pub fn name(
    #[text(16)] name: *mut c_char,
    #[from(name.len)] len: c_int,
    #[handle] unit: Unit,
);

#[driver(tyBatch, order = stream)]
pub fn batch(
    #[items(count, device(write, bytes(sizes)))] dsts @ to: *mut Address,
    #[items(count, any(read, bytes(sizes), until = stream))] srcs @ from: *mut Address,
    #[items(count, from(srcs.len))] sizes: *mut usize,
    #[from(dsts.count)] count: usize,
    #[stream] stream: RawStream,
);

#[driver(tyLater, order = stream, fence)]
pub fn later(
    #[stream] stream: RawStream,
    #[callback] function: Function,
    #[data(function)] data: *mut c_void,
);

#[driver(tyRun, order = stream)]
/// Runs.
///
/// # Safety
///
/// It keeps to its arguments.
pub unsafe fn run(
    #[handle] kernel: Unit,
    #[args(kernel)] args: *mut *mut c_void,
    #[stream] stream: RawStream,
);

#[driver(tyParts, home = none)]
pub fn parts(
    #[items(count, out)] parts: *mut Unit,
    #[from(parts.count)] count: *mut usize,
    #[handle] unit: Unit,
);

#[driver(tyReshape, home = none)]
pub fn reshape(
    #[record] shape: *mut Shape,
    #[record(optional)] old: *const Shape,
);
