//! The README's example of testing one's own code, which stands here word for word and runs.

// What the README shows begins here.
use cuda_sim::{Config, for_each_failure, on_every_scheduler};
use cuda_sys::*;

fn check(answer: CUresult) -> Result<(), String> {
    if answer == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{answer:?}")) }
}

/// Is the code to be tested: fills device memory on a stream, and reads it back.
fn filled(value: u8, stream: CUstream) -> Result<[u8; 64], String> {
    let (mut memory, mut bytes) = (CUdeviceptr(0), [0; 64]);
    // SAFETY: it writes an address.
    check(unsafe { cuMemAlloc_v2(&mut memory, 64) })?;
    // SAFETY: the memory has 64 bytes.
    let filled = check(unsafe { cuMemsetD8Async(memory, value, 64, stream) });
    // Without this line the stream may be late: a race, which each scheduler reports.
    // SAFETY: the stream is the caller's.
    let waited = filled.and_then(|()| check(unsafe { cuStreamSynchronize(stream) }));
    // SAFETY: both have 64 bytes.
    let read = waited
        .and_then(|()| check(unsafe { cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, 64) }));
    // SAFETY: nothing uses the memory any more.
    let freed = check(unsafe { cuMemFree_v2(memory) });
    read.and(freed).map(|()| bytes)
}

/// Runs it on a stream of its own, in the primary context of the first device.
fn on_a_stream() -> Result<[u8; 64], String> {
    let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the call takes no pointer.
    check(unsafe { cuInit(0) })?;
    // SAFETY: it writes a handle.
    check(unsafe { cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)) })?;
    // SAFETY: the context is retained.
    let current = check(unsafe { cuCtxSetCurrent(context) });
    // SAFETY: it writes a handle.
    let made = current.and_then(|()| check(unsafe { cuStreamCreate(&mut stream, 1) }));
    let outcome = made.and_then(|()| {
        let outcome = filled(7, stream);
        // SAFETY: the stream was made above.
        check(unsafe { cuStreamDestroy_v2(stream) }).and(outcome)
    });
    // SAFETY: the call takes no pointer.
    check(unsafe { cuDevicePrimaryCtxRelease_v2(CUdevice(0)) }).and(outcome)
}

#[test]
fn it_is_right_however_late_work_runs() {
    on_every_scheduler!(Config::new(), || assert_eq!(on_a_stream(), Ok([7; 64])));
}

#[test]
fn it_gives_all_back_whichever_call_fails() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_UNKNOWN, || on_a_stream().map(drop));
}
// It ends here.

#[test]
fn the_readme_shows_this() {
    let (readme, here) = (include_str!("../README.md"), include_str!("readme.rs"));
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap();
        rest.split_once(to).unwrap().0.to_owned()
    };
    let shown = between(readme, "```rust,no_run\n", "```");
    let real = between(here, "// What the README shows begins here.\n", "// It ends here.\n");
    assert_eq!(shown, real);
}
