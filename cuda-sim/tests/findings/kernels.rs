//! Programs with kernels, each with one mistake or without it.

use cuda_sim::kernel::{self, Body, KernelError};
use cuda_sys::*;

use crate::Program;
use crate::common::*;

/// How many bytes the programs have.
const BYTES: usize = 64;

/// Launches the kernel with an address, and waits for it; the answer is that of the wait.
fn run(address: CUdeviceptr) -> u32 {
    let module = module(".entry does(.param .u64 p) { }");
    let launched = launch(function(module, c"does"), [1, 1], LEGACY, &[parameter(&address)]);
    assert_eq!(launched, 0);
    let waited = code!(cuCtxSynchronize());
    // It does its work, and answers an error that stayed.
    assert_eq!(code!(cuModuleUnload(module)), waited);
    waited
}

/// Runs the kernel at an offset into memory, and expects an answer.
fn run_at(offset: u64, answer: u32) {
    let memory = alloc(BYTES);
    assert_eq!(run(at(memory, offset)), answer);
    assert_eq!(code!(cuMemFree_v2(memory)), answer);
}

fn writes_a_word(launch: &mut kernel::Launch<'_>) -> Result<(), KernelError> {
    let to = launch.pointer(0)?;
    launch.write(to, 0, 7_u32)
}

pub(crate) const ILLEGAL_ADDRESS: Program = Program {
    later: "cuLaunchKernel",
    earlier: None,
    run: |is_right| {
        kernel::register("does", writes_a_word);
        if is_right { run_at(BYTES as u64 - 4, 0) } else { run_at(BYTES as u64, 700) }
    },
};

pub(crate) const MISALIGNED_ADDRESS: Program = Program {
    later: "cuLaunchKernel",
    earlier: None,
    run: |is_right| {
        kernel::register("does", writes_a_word);
        if is_right { run_at(4, 0) } else { run_at(2, 716) }
    },
};

pub(crate) const KERNEL_FAILED: Program =
    Program {
        later: "cuLaunchKernel",
        earlier: None,
        run: |is_right| {
            kernel::register("does", move |_| {
                if is_right { Ok(()) } else { Err(KernelError::new("no luck")) }
            });
            run_at(0, if is_right { 0 } else { 719 });
        },
    };

pub(crate) const UNREGISTERED_KERNEL: Program = Program {
    later: "cuLaunchKernel",
    earlier: None,
    run: |is_right| {
        if is_right {
            kernel::register("does", writes_a_word);
            return run_at(0, 0);
        }
        let (module, memory) = (module(".entry does(.param .u64 p) { }"), alloc(BYTES));
        let function = function(module, c"does");
        assert_eq!(launch(function, [1, 1], LEGACY, &[parameter(&memory)]), 801);
        ok!(cuModuleUnload(module));
        free(memory);
    },
};

pub(crate) const UNDECLARED_ACCESS: Program = Program {
    later: "cuLaunchKernel",
    earlier: None,
    run: |is_right| {
        let bytes = if is_right { 4 } else { 2 };
        Body::new(writes_a_word)
            .accesses(move |arguments| Ok(vec![arguments.writes(0, bytes)?]))
            .register("does");
        run_at(0, 0);
    },
};

pub(crate) const PANIC: Program = Program {
    later: "cuLaunchKernel",
    earlier: None,
    run: |is_right| {
        kernel::register("does", move |_| {
            assert!(is_right, "boom");
            Ok(())
        });
        run_at(0, if is_right { 0 } else { 719 });
    },
};
