//! Streams that are busy for a known time, on a device and on the simulator.

use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use cuda_sys::*;

use super::*;

/// Spins until the device's clock is that many nanoseconds on; it ends after three seconds.
const SPIN: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 nanoseconds)
{
    .reg .u64 %limit, %start, %now, %count;
    .reg .pred %done;
    ld.param.u64 %limit, [nanoseconds];
    min.u64 %limit, %limit, 3000000000;
    mov.u64 %count, 0;
    mov.u64 %start, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %start;
    setp.ge.u64 %done, %now, %limit;
    @%done bra end;
    add.u64 %count, %count, 1;
    setp.lt.u64 %done, %count, 400000000;
    @%done bra again;
end:
    ret;
}
\0";

/// Is what makes streams busy: a kernel on a device, a host function on the simulator, where time
/// is the host's.
pub(crate) struct Busy {
    kernel: Option<CUfunction>,
}

unsafe extern "system" fn sleep(milliseconds: *mut c_void) {
    std::thread::sleep(Duration::from_millis(milliseconds.addr() as u64));
}

impl Busy {
    /// Loads what it needs: loading a module waits for kernels, so that it comes first.
    pub(crate) fn load() -> Self {
        if !cuda_sim::is_on_device() {
            return Self { kernel: None };
        }
        let (mut module, mut kernel) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuModuleLoadData(&mut module, SPIN.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut kernel, module, c"spin".as_ptr()));
        let busy = Self { kernel: Some(kernel) };
        // A function's first launch loads it.
        busy.stream(LEGACY, 0);
        ok!(cuCtxSynchronize());
        busy
    }

    /// Makes a stream busy for that long.
    pub(crate) fn stream(&self, stream: CUstream, milliseconds: u64) {
        let Some(kernel) = self.kernel else {
            let data = ptr::without_provenance_mut(usize::try_from(milliseconds).unwrap_or(0));
            ok!(cuLaunchHostFunc(stream, Some(sleep), data));
            return;
        };
        let mut nanoseconds = milliseconds * 1_000_000;
        let mut parameters: [*mut c_void; 1] = [ptr::from_mut(&mut nanoseconds).cast()];
        ok!(cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            ptr::null_mut()
        ));
    }

    /// Tells whether a call waits for the work of a non-blocking stream that it doesn't name.
    pub(crate) fn is_waited_for(&self, call: impl FnOnce()) -> bool {
        self.is_waited_for_on(1, call)
    }

    /// Tells whether a call waits for the work of a stream of those flags that it doesn't name.
    pub(crate) fn is_waited_for_on(&self, flags: u32, call: impl FnOnce()) -> bool {
        let (unrelated, behind) = (stream(flags), event());
        self.stream(unrelated, 200);
        ok!(cuEventRecord(behind, unrelated));
        call();
        let waited = code!(cuEventQuery(behind)) == 0;
        ok!(cuStreamSynchronize(unrelated));
        ok!(cuEventDestroy_v2(behind));
        ok!(cuStreamDestroy_v2(unrelated));
        waited
    }
}

/// Tells how long a call took.
pub(crate) fn time(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}
