//! A kernel that adds, on a device and where none is.
#![allow(dead_code, reason = "each test program uses what it needs")]

use std::ffi::CStr;

use cuda_safe::{Context, Device, Function, LaunchShape, Module};
use cuda_sim::AccessBox;
use cuda_sim::kernel::{Access, Body};

/// Adds `x` to `y`, element by element; adds to each element of `table`; and has that variable.
pub(crate) const PTX: &CStr = cr"
    .version 7.0
    .target sm_70
    .address_size 64

    .visible .global .align 8 .b32 table[4] = {1, 2, 3, 4};
    .visible .const .align 4 .b32 factor[1] = {7};

    .visible .entry add(.param .u64 x, .param .u64 y, .param .u32 step, .param .u32 n)
    {
        .reg .pred %past;
        .reg .b32 %index, %block, %size, %thread, %step, %n, %left, %right;
        .reg .b64 %x, %y, %offset;
        mov.u32 %block, %ctaid.x;
        mov.u32 %size, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.u32 %index, %block, %size, %thread;
        ld.param.u32 %n, [n];
        setp.ge.u32 %past, %index, %n;
        @%past ret;
        ld.param.u32 %step, [step];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mul.wide.u32 %offset, %index, %step;
        add.u64 %x, %x, %offset;
        add.u64 %y, %y, %offset;
        ld.u32 %left, [%x];
        ld.u32 %right, [%y];
        add.u32 %right, %left, %right;
        st.u32 [%y], %right;
        ret;
    }

    .visible .entry count(.param .u32 by)
    {
        .reg .b32 %thread, %by, %value;
        .reg .b64 %table, %offset;
        mov.u32 %thread, %tid.x;
        ld.param.u32 %by, [by];
        mov.u64 %table, table;
        mul.wide.u32 %offset, %thread, 4;
        add.u64 %table, %table, %offset;
        ld.global.u32 %value, [%table];
        add.u32 %value, %value, %by;
        st.global.u32 [%table], %value;
        ret;
    }
";

/// Makes a context, and finds a kernel in it.
pub(crate) fn kernel(name: &CStr) -> (Context, Function) {
    let context = Device::get(0).unwrap().context().unwrap();
    let function = module(&context).function(name).unwrap();
    (context, function)
}

/// Loads the module, and says what the kernels do where no device runs them.
pub(crate) fn module(context: &Context) -> Module {
    register();
    Module::from_ptx(context, PTX).unwrap()
}

pub(crate) fn row(threads: u32) -> LaunchShape {
    LaunchShape::new([1, 1, 1], [threads, 1, 1])
}

pub(crate) fn register() {
    let add = Body::new(|launch| {
        let (x, y) = (launch.pointer(0)?, launch.pointer(1)?);
        let (step, n) = (launch.parameter::<u32>(2)?, launch.parameter::<u32>(3)?);
        for index in 0..u64::from(n) {
            let at = index * u64::from(step) / 4;
            let sum = launch.read::<u32>(x, at)?.wrapping_add(launch.read::<u32>(y, at)?);
            launch.write(y, at, sum)?;
        }
        Ok(())
    });
    add.accesses(|arguments| {
        let (step, n) = (arguments.parameter::<u32>(2)?, arguments.parameter::<u32>(3)?);
        let rows = |access: Access| {
            let AccessBox { base, .. } = access.area;
            let area = AccessBox { base, pitch: step.into(), width: 4, height: n.into() };
            Access { area, ..access }
        };
        Ok(vec![rows(arguments.reads(0, 4)?), rows(arguments.writes(1, 4)?)])
    })
    .register("add");
    let count = Body::new(|launch| {
        let (table, by) = (launch.variable("table")?, launch.parameter::<u32>(0)?);
        for index in 0..launch.threads() {
            let value = launch.read::<u32>(table, index)?;
            launch.write(table, index, value + by)?;
        }
        Ok(())
    });
    count.register("count");
}
