/// Is the contract of [`copy`].
pub const COPY: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyCopy",
    since: crate::shim::sys::since::tyCopy,
    order: Some(crate::shim::Order::Stream),
    rows: &[
        crate::shim::Row {
            operand: "dst",
            role: "device memory",
            access: "write",
            reach: "bytes(count), align(4)",
            until: "stream",
        },
        crate::shim::Row {
            operand: "src",
            role: "host memory",
            access: "read",
            reach: "bytes(count)",
            until: "stream",
        },
        crate::shim::Row {
            operand: "count",
            role: "computed",
            access: "",
            reach: "src.len",
            until: "",
        },
        crate::shim::Row {
            operand: "stream",
            role: "stream",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyCopy(to: Address, from: *const c_void, count: usize, stream: RawStream)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `dst` | device memory | write | `bytes(count), align(4)` | stream |
/// | `src` | host memory | read | `bytes(count)` | stream |
/// | `count` | computed |  | `src.len` |  |
/// | `stream` | stream |  |  |  |
///
/// Is ordered on its stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyCopy")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn copy(
    dst: &mut (impl crate::shim::Device + ?Sized),
    src: &(impl crate::shim::Host + crate::shim::Steady + ?Sized),
    stream: &impl crate::shim::AnyStream,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        mut dst: crate::shim::Operand<'_>,
        mut src: crate::shim::Operand<'_>,
        stream: &crate::shim::Stream,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &COPY;
        let entry: unsafe extern "system" fn(
            Address,
            *const c_void,
            usize,
            RawStream,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyCopy,
        )?;
        let count: usize = crate::shim::fit(CALL, "count", src.len())?;
        let home = crate::shim::home(
            CALL,
            &[
                ("stream", crate::shim::Handle::home(stream)),
                ("dst", dst.home()),
                ("src", src.home()),
            ],
        )?;
        crate::shim::bytes(CALL, &mut dst, crate::shim::Size::of(count))?;
        crate::shim::align(CALL, &dst, 4)?;
        crate::shim::bytes(CALL, &mut src, crate::shim::Size::of(count))?;
        crate::shim::disjoint(CALL, &[&dst, &src])?;
        let _entered = crate::shim::enter(CALL, home)?;
        let settled = crate::shim::settle(
            CALL,
            crate::shim::timeline(stream),
            &[&dst, &src],
        )?;
        let code = unsafe {
            entry(
                crate::shim::address(&dst),
                crate::shim::address(&src),
                count,
                crate::shim::Handle::raw(stream),
            )
        };
        crate::shim::touch(crate::shim::timeline(stream), &[&dst, &src], settled, code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(
        crate::shim::Operand::new(
            "dst",
            crate::shim::Access::Write,
            crate::shim::Until::Stream,
            &*dst,
        ),
        crate::shim::Operand::new(
            "src",
            crate::shim::Access::Read,
            crate::shim::Until::Stream,
            &*src,
        ),
        crate::shim::on(stream),
    )
}

/// Is the contract of [`fill_rows`].
pub const FILL_ROWS: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyFillRows",
    since: crate::shim::sys::since::tyFillRows,
    order: Some(crate::shim::Order::Default),
    rows: &[
        crate::shim::Row {
            operand: "dst",
            role: "device memory",
            access: "write",
            reach: "rows(pitch, width * 4, height), align(4)",
            until: "default stream",
        },
        crate::shim::Row {
            operand: "pitch",
            role: "computed",
            access: "",
            reach: "dst.pitch",
            until: "",
        },
        crate::shim::Row {
            operand: "word",
            role: "value",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "width",
            role: "computed",
            access: "",
            reach: "dst.width / 4",
            until: "",
        },
        crate::shim::Row {
            operand: "height",
            role: "computed",
            access: "",
            reach: "dst.height",
            until: "",
        },
    ],
};
///
/// Calls `tyFillRows(address: Address, pitch: usize, word: u32, width: usize, height: usize)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `dst` | device memory | write | `rows(pitch, width * 4, height), align(4)` | default stream |
/// | `pitch` | computed |  | `dst.pitch` |  |
/// | `word` | value |  |  |  |
/// | `width` | computed |  | `dst.width / 4` |  |
/// | `height` | computed |  | `dst.height` |  |
///
/// Is ordered on the context's default stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyFillRows")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn fill_rows(
    dst: &mut (impl crate::shim::Device + ?Sized),
    word: u32,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(mut dst: crate::shim::Operand<'_>, word: u32) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &FILL_ROWS;
        let entry: unsafe extern "system" fn(
            Address,
            usize,
            u32,
            usize,
            usize,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyFillRows,
        )?;
        let pitch: usize = crate::shim::fit(CALL, "pitch", dst.pitch())?;
        let width: usize = crate::shim::fit(
            CALL,
            "width",
            crate::shim::quotient(CALL, "dst", dst.width(), 4)?,
        )?;
        let height: usize = crate::shim::fit(CALL, "height", dst.height())?;
        let home = crate::shim::home(CALL, &[("dst", dst.home())])?;
        crate::shim::rows(
            CALL,
            &mut dst,
            crate::shim::Size::of(pitch),
            (crate::shim::Size::of(width) * crate::shim::Size::of(4)),
            crate::shim::Size::of(height),
        )?;
        crate::shim::align(CALL, &dst, 4)?;
        let _entered = crate::shim::enter(CALL, home)?;
        let timeline = crate::shim::default_timeline(home);
        let settled = crate::shim::settle(CALL, &timeline, &[&dst])?;
        crate::shim::plain(&word);
        let code = unsafe {
            entry(crate::shim::address(&dst), pitch, word, width, height)
        };
        crate::shim::touch(&timeline, &[&dst], settled, code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(
        crate::shim::Operand::new(
            "dst",
            crate::shim::Access::Write,
            crate::shim::Until::Stream,
            &*dst,
        ),
        word,
    )
}

/// Is the contract of [`copy_box`].
pub const COPY_BOX: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyBox",
    since: crate::shim::sys::since::tyBox,
    order: Some(crate::shim::Order::Stream),
    rows: &[
        crate::shim::Row {
            operand: "src",
            role: "memory",
            access: "read",
            reach: "extent",
            until: "stream",
        },
        crate::shim::Row {
            operand: "dst",
            role: "memory",
            access: "write",
            reach: "extent",
            until: "stream",
        },
        crate::shim::Row {
            operand: "stream",
            role: "stream",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyBox(copy: *const BoxCopy, stream: RawStream)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `src` | memory | read | `extent` | stream |
/// | `dst` | memory | write | `extent` | stream |
/// | `stream` | stream |  |  |  |
///
/// Is ordered on its stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyBox")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn copy_box(
    src: &(impl crate::shim::Steady + ?Sized),
    dst: &mut (impl crate::shim::Steady + ?Sized),
    extent: crate::shim::Extent,
    stream: &impl crate::shim::AnyStream,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        mut src: crate::shim::Operand<'_>,
        mut dst: crate::shim::Operand<'_>,
        extent: crate::shim::Extent,
        stream: &crate::shim::Stream,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &COPY_BOX;
        let entry: unsafe extern "system" fn(
            *const BoxCopy,
            RawStream,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyBox,
        )?;
        let home = crate::shim::home(
            CALL,
            &[
                ("stream", crate::shim::Handle::home(stream)),
                ("src", src.home()),
                ("dst", dst.home()),
            ],
        )?;
        crate::shim::extent(CALL, &mut src, extent)?;
        crate::shim::extent(CALL, &mut dst, extent)?;
        crate::shim::disjoint(CALL, &[&src, &dst])?;
        let _ = |descriptor: BoxCopy| {
            let BoxCopy {
                from_type: _,
                from_host: _,
                from_device: _,
                from_pitch: _,
                to_type: _,
                to_host: _,
                to_device: _,
                to_pitch: _,
                width: _,
                height: _,
                reserved: _,
            } = descriptor;
        };
        let mut copy = crate::shim::descriptor::<BoxCopy>();
        {
            let fields = crate::shim::fields(&mut copy);
            fields.from_type = crate::shim::memory_type(&src);
            fields.from_host = crate::shim::host_address(&src);
            fields.from_device = crate::shim::device_address(&src);
            fields.from_pitch = src.pitch();
            fields.to_type = crate::shim::memory_type(&dst);
            fields.to_host = crate::shim::host_address(&dst);
            fields.to_device = crate::shim::device_address(&dst);
            fields.to_pitch = dst.pitch();
            fields.width = extent.width;
            fields.height = extent.height;
        }
        let _entered = crate::shim::enter(CALL, home)?;
        let settled = crate::shim::settle(
            CALL,
            crate::shim::timeline(stream),
            &[&src, &dst],
        )?;
        let code = unsafe { entry(copy.as_mut_ptr(), crate::shim::Handle::raw(stream)) };
        crate::shim::touch(crate::shim::timeline(stream), &[&src, &dst], settled, code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(
        crate::shim::Operand::new(
            "src",
            crate::shim::Access::Read,
            crate::shim::Until::Stream,
            &*src,
        ),
        crate::shim::Operand::new(
            "dst",
            crate::shim::Access::Write,
            crate::shim::Until::Stream,
            &*dst,
        ),
        extent,
        crate::shim::on(stream),
    )
}

/// Is the contract of [`ask`].
pub const ASK: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyAsk",
    since: crate::shim::sys::since::tyAsk,
    order: None,
    rows: &[
        crate::shim::Row {
            operand: "data",
            role: "returned",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "attribute",
            role: "attribute",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "memory",
            role: "memory",
            access: "share",
            reach: "base",
            until: "",
        },
    ],
};
///
/// Calls `tyAsk(data: *mut c_void, attribute: u32, address: Address)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `data` | returned |  |  |  |
/// | `attribute` | attribute |  |  |  |
/// | `memory` | memory | share | `base` |  |
///
///
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyAsk")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn ask<A: Attribute>(
    memory: &(impl crate::shim::Memory + ?Sized),
) -> crate::shim::Result<<A as Attribute>::Value> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        data: (*mut c_void, usize),
        attribute: u32,
        mut memory: crate::shim::Operand<'_>,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &ASK;
        let entry: unsafe extern "system" fn(
            *mut c_void,
            u32,
            Address,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyAsk,
        )?;
        let home = crate::shim::home(CALL, &[("memory", memory.home())])?;
        crate::shim::base(CALL, &mut memory)?;
        let _entered = crate::shim::enter(CALL, home)?;
        let code = unsafe { entry(data.0, attribute, crate::shim::address(&memory)) };
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    let mut data = crate::shim::zeroed::<<A as Attribute>::Value>();
    shim(
        ((&raw mut data).cast(), size_of_val(&data)),
        <A as Attribute>::CODE,
        crate::shim::Operand::new(
            "memory",
            crate::shim::Access::Share,
            crate::shim::Until::Stream,
            &*memory,
        ),
    )?;
    Ok(data)
}

/// Is the contract of [`free`].
pub const FREE: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyFree",
    since: crate::shim::sys::since::tyFree,
    order: None,
    rows: &[
        crate::shim::Row {
            operand: "address",
            role: "raw value",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
/// Frees.
///
/// # Safety
///
/// Nothing uses it.
///
/// Calls `tyFree(address: Address)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `address` | raw value |  |  |  |
///
///
/// Runs in `context`.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyFree")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub unsafe fn free(
    context: &crate::shim::Context,
    address: Address,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    unsafe fn shim(
        context: &crate::shim::Context,
        address: Address,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &FREE;
        let entry: unsafe extern "system" fn(Address) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyFree,
        )?;
        let home = crate::shim::home(CALL, &[("context", Some(context))])?;
        let _entered = crate::shim::enter(CALL, home)?;
        let code = unsafe { entry(address) };
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    unsafe { shim(context, address) }
}

/// Is the contract of [`name`].
pub const NAME: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyName",
    since: crate::shim::sys::since::tyName,
    order: None,
    rows: &[
        crate::shim::Row {
            operand: "name",
            role: "returned text",
            access: "",
            reach: "bytes(16)",
            until: "",
        },
        crate::shim::Row {
            operand: "len",
            role: "computed",
            access: "",
            reach: "name.len",
            until: "",
        },
        crate::shim::Row {
            operand: "unit",
            role: "handle",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyName(name: *mut c_char, len: c_int, unit: Unit)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `name` | returned text |  | `bytes(16)` |  |
/// | `len` | computed |  | `name.len` |  |
/// | `unit` | handle |  |  |  |
///
///
/// Needs no context, or takes the thread's as it is.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyName")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn name(
    unit: &impl crate::shim::Handle<Raw = Unit>,
) -> crate::shim::Result<crate::shim::Text> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        unit: crate::shim::Held<'_, Unit>,
    ) -> crate::shim::Result<crate::shim::Text> {
        const CALL: &crate::shim::Contract = &NAME;
        let entry: unsafe extern "system" fn(
            *mut c_char,
            c_int,
            Unit,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyName,
        )?;
        let len: c_int = crate::shim::fit(CALL, "len", 16)?;
        let mut name = [0; 16];
        let code = unsafe { entry(name.as_mut_ptr(), len, unit.raw()) };
        crate::shim::check(CALL, code)?;
        Ok(crate::shim::text(&name))
    }
    shim(crate::shim::Held::new("unit", unit))
}

/// Is the contract of [`batch`].
pub const BATCH: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyBatch",
    since: crate::shim::sys::since::tyBatch,
    order: Some(crate::shim::Order::Stream),
    rows: &[
        crate::shim::Row {
            operand: "dsts",
            role: "list of device memory",
            access: "write",
            reach: "items(count), each bytes(sizes)",
            until: "stream",
        },
        crate::shim::Row {
            operand: "srcs",
            role: "list of memory",
            access: "read",
            reach: "items(count), each bytes(sizes)",
            until: "stream",
        },
        crate::shim::Row {
            operand: "sizes",
            role: "computed list",
            access: "",
            reach: "srcs.len",
            until: "",
        },
        crate::shim::Row {
            operand: "count",
            role: "computed",
            access: "",
            reach: "dsts.count",
            until: "",
        },
        crate::shim::Row {
            operand: "stream",
            role: "stream",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyBatch(to: *mut Address, from: *mut Address, sizes: *mut usize, count: usize, stream: RawStream)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `dsts` | list of device memory | write | `items(count), each bytes(sizes)` | stream |
/// | `srcs` | list of memory | read | `items(count), each bytes(sizes)` | stream |
/// | `sizes` | computed list |  | `srcs.len` |  |
/// | `count` | computed |  | `dsts.count` |  |
/// | `stream` | stream |  |  |  |
///
/// Is ordered on its stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyBatch")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn batch(
    dsts: &mut [&mut dyn crate::shim::Device],
    srcs: &[&dyn crate::shim::Steady],
    stream: &impl crate::shim::AnyStream,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        mut dsts: crate::shim::Operands<'_>,
        mut srcs: crate::shim::Operands<'_>,
        stream: &crate::shim::Stream,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &BATCH;
        let entry: unsafe extern "system" fn(
            *mut Address,
            *mut Address,
            *mut usize,
            usize,
            RawStream,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyBatch,
        )?;
        let mut sizes: Vec<usize> = srcs
            .iter()
            .map(|operand| crate::shim::fit(CALL, "sizes", operand.len()))
            .collect::<crate::shim::Result<_>>()?;
        let count: usize = crate::shim::fit(CALL, "count", dsts.len())?;
        let home = crate::shim::home(
            CALL,
            &[("stream", crate::shim::Handle::home(stream))],
        )?;
        dsts.same_home(CALL, home)?;
        srcs.same_home(CALL, home)?;
        crate::shim::count(
            CALL,
            "dsts",
            dsts.len(),
            crate::shim::Size::of(count),
            false,
        )?;
        for (index, operand) in dsts.iter_mut().enumerate() {
            let _ = index;
            crate::shim::bytes(CALL, operand, crate::shim::Size::item(&sizes, index))?;
        }
        crate::shim::count(
            CALL,
            "srcs",
            srcs.len(),
            crate::shim::Size::of(count),
            false,
        )?;
        for (index, operand) in srcs.iter_mut().enumerate() {
            let _ = index;
            crate::shim::bytes(CALL, operand, crate::shim::Size::item(&sizes, index))?;
        }
        crate::shim::count(
            CALL,
            "sizes",
            sizes.len(),
            crate::shim::Size::of(count),
            false,
        )?;
        let used = crate::shim::gather(&[], &[dsts.as_slice(), srcs.as_slice()]);
        crate::shim::disjoint(CALL, &used)?;
        let mut dsts_addresses = crate::shim::addresses(&dsts);
        let mut srcs_addresses = crate::shim::addresses(&srcs);
        let _entered = crate::shim::enter(CALL, home)?;
        let settled = crate::shim::settle(CALL, crate::shim::timeline(stream), &used)?;
        let code = unsafe {
            entry(
                crate::shim::list_mut(&mut dsts_addresses),
                crate::shim::list_mut(&mut srcs_addresses),
                crate::shim::list_mut(&mut sizes),
                count,
                crate::shim::Handle::raw(stream),
            )
        };
        crate::shim::touch(crate::shim::timeline(stream), &used, settled, code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(
        crate::shim::Operands::new(
            "dsts",
            dsts
                .iter()
                .map(|memory| crate::shim::Operand::new(
                    "dsts",
                    crate::shim::Access::Write,
                    crate::shim::Until::Stream,
                    &**memory,
                )),
        ),
        crate::shim::Operands::new(
            "srcs",
            srcs
                .iter()
                .map(|memory| crate::shim::Operand::new(
                    "srcs",
                    crate::shim::Access::Read,
                    crate::shim::Until::Stream,
                    &**memory,
                )),
        ),
        crate::shim::on(stream),
    )
}

/// Is the contract of [`later`].
pub const LATER: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyLater",
    since: crate::shim::sys::since::tyLater,
    order: Some(crate::shim::Order::Stream),
    rows: &[
        crate::shim::Row {
            operand: "stream",
            role: "stream",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "function",
            role: "callback",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "data",
            role: "callback's data",
            access: "",
            reach: "function",
            until: "",
        },
    ],
};
///
/// Calls `tyLater(stream: RawStream, function: Function, data: *mut c_void)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `stream` | stream |  |  |  |
/// | `function` | callback |  |  |  |
/// | `data` | callback's data |  | `function` |  |
///
/// Is ordered on its stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyLater")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn later(
    stream: &impl crate::shim::AnyStream,
    function: impl FnOnce() + Send + 'static,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        stream: &crate::shim::Stream,
        function: crate::shim::Job,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &LATER;
        let entry: unsafe extern "system" fn(
            RawStream,
            Function,
            *mut c_void,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyLater,
        )?;
        let home = crate::shim::home(
            CALL,
            &[("stream", crate::shim::Handle::home(stream))],
        )?;
        let _entered = crate::shim::enter(CALL, home)?;
        crate::shim::fence(CALL, stream)?;
        let function = crate::shim::Posted::new(function, Some(home));
        let code = unsafe {
            entry(
                crate::shim::Handle::raw(stream),
                crate::shim::Trampoline::TRAMPOLINE,
                function.data(),
            )
        };
        function.settle(code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(crate::shim::on(stream), crate::shim::Job::new(function))
}

/// Is the contract of [`run`].
pub const RUN: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyRun",
    since: crate::shim::sys::since::tyRun,
    order: Some(crate::shim::Order::Stream),
    rows: &[
        crate::shim::Row {
            operand: "kernel",
            role: "handle",
            access: "",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "args",
            role: "arguments",
            access: "",
            reach: "kernel",
            until: "",
        },
        crate::shim::Row {
            operand: "stream",
            role: "stream",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
/// Runs.
///
/// # Safety
///
/// It keeps to its arguments.
///
/// Calls `tyRun(kernel: Unit, args: *mut *mut c_void, stream: RawStream)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `kernel` | handle |  |  |  |
/// | `args` | arguments |  | `kernel` |  |
/// | `stream` | stream |  |  |  |
///
/// Is ordered on its stream.
/// Runs in the operands' context.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyRun")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub unsafe fn run(
    kernel: &impl crate::shim::Handle<Raw = Unit>,
    args: impl crate::shim::Arguments,
    stream: &impl crate::shim::AnyStream,
) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    unsafe fn shim(
        kernel: crate::shim::Held<'_, Unit>,
        mut args: crate::shim::Passed<'_>,
        stream: &crate::shim::Stream,
    ) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &RUN;
        let entry: unsafe extern "system" fn(
            Unit,
            *mut *mut c_void,
            RawStream,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyRun,
        )?;
        let home = crate::shim::home(
            CALL,
            &[("stream", crate::shim::Handle::home(stream)), ("kernel", kernel.home())],
        )?;
        args.same_home(CALL, home)?;
        crate::shim::arity(CALL, "args", &mut args, kernel.parameters())?;
        let used = crate::shim::gather(&[], &[args.as_slice()]);
        let mut args_places = args.places();
        let _entered = crate::shim::enter(CALL, home)?;
        let settled = crate::shim::settle(CALL, crate::shim::timeline(stream), &used)?;
        let code = unsafe {
            entry(kernel.raw(), args_places.list(), crate::shim::Handle::raw(stream))
        };
        crate::shim::touch(crate::shim::timeline(stream), &used, settled, code);
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    unsafe {
        shim(
            crate::shim::Held::new("kernel", kernel),
            crate::shim::Passed::new("args", &args),
            crate::shim::on(stream),
        )
    }
}

/// Is the contract of [`parts`].
pub const PARTS: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyParts",
    since: crate::shim::sys::since::tyParts,
    order: None,
    rows: &[
        crate::shim::Row {
            operand: "parts",
            role: "list of values",
            access: "write",
            reach: "items(count)",
            until: "",
        },
        crate::shim::Row {
            operand: "count",
            role: "computed",
            access: "",
            reach: "parts.count",
            until: "",
        },
        crate::shim::Row {
            operand: "unit",
            role: "handle",
            access: "",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyParts(parts: *mut Unit, count: *mut usize, unit: Unit)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `parts` | list of values | write | `items(count)` |  |
/// | `count` | computed |  | `parts.count` |  |
/// | `unit` | handle |  |  |  |
///
///
/// Needs no context, or takes the thread's as it is.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyParts")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn parts(
    parts: &mut [Unit],
    unit: &impl crate::shim::Handle<Raw = Unit>,
) -> crate::shim::Result<usize> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(
        parts: &mut [Unit],
        unit: crate::shim::Held<'_, Unit>,
    ) -> crate::shim::Result<usize> {
        const CALL: &crate::shim::Contract = &PARTS;
        let entry: unsafe extern "system" fn(
            *mut Unit,
            *mut usize,
            Unit,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyParts,
        )?;
        let mut count: usize = crate::shim::fit(CALL, "count", parts.len())?;
        crate::shim::count(
            CALL,
            "parts",
            parts.len(),
            crate::shim::Size::of(count),
            false,
        )?;
        let code = unsafe {
            entry(crate::shim::list_mut(parts), &raw mut count, unit.raw())
        };
        crate::shim::check(CALL, code)?;
        Ok(count)
    }
    shim(parts, crate::shim::Held::new("unit", unit))
}

/// Is the contract of [`reshape`].
pub const RESHAPE: crate::shim::Contract = crate::shim::Contract {
    symbol: "tyReshape",
    since: crate::shim::sys::since::tyReshape,
    order: None,
    rows: &[
        crate::shim::Row {
            operand: "shape",
            role: "record",
            access: "write",
            reach: "",
            until: "",
        },
        crate::shim::Row {
            operand: "old",
            role: "record",
            access: "read",
            reach: "",
            until: "",
        },
    ],
};
///
/// Calls `tyReshape(shape: *mut Shape, old: *const Shape)`.
///
/// | operand | is | access | reach | until |
/// |---|---|---|---|---|
/// | `shape` | record | write |  |  |
/// | `old` | record | read |  |  |
///
///
/// Needs no context, or takes the thread's as it is.
///
/// # Errors
///
/// Refuses what breaks a rule of the table, before the driver is called; else as the driver answers.
#[doc(alias = "tyReshape")]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument an operand of the C function"
)]
pub fn reshape(shape: &mut Shape, old: Option<&Shape>) -> crate::shim::Result<()> {
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument an operand of the C function"
    )]
    fn shim(shape: &mut Shape, old: Option<&Shape>) -> crate::shim::Result<()> {
        const CALL: &crate::shim::Contract = &RESHAPE;
        let entry: unsafe extern "system" fn(
            *mut Shape,
            *const Shape,
        ) -> crate::shim::Status = crate::shim::present(
            CALL,
            &crate::shim::sys::TABLE.tyReshape,
        )?;
        crate::shim::plain_record(CALL, "shape", &*shape)?;
        crate::shim::any_bytes(&*shape);
        old.map_or(Ok(()), |record| crate::shim::plain_record(CALL, "old", record))?;
        let code = unsafe {
            entry(
                core::ptr::from_mut(shape),
                old.map_or(core::ptr::null(), core::ptr::from_ref),
            )
        };
        crate::shim::check(CALL, code)?;
        Ok(())
    }
    shim(shape, old)
}

