//! Contexts: the device's own, and one of one's own.

use cuda_safe::{Context, Device, DeviceBuffer, Stream};

#[test]
fn the_primary_context() {
    each_call_fails!(
        [
            Device::context,
            Context::primary,
            Context::synchronize,
            Context::memory_info,
            Context::run,
            Context::make_current,
            Context::collect,
        ],
        |given| {
            let device = Device::get(0)?;
            let context = device.context()?;
            given.listen(&context);
            assert_eq!(Context::primary(device)?, context);
            let stream = Stream::new(&context)?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            buffer.fill(1, &stream)?;
            drop(buffer);
            context.collect();
            context.synchronize()?;
            let (free, all) = context.memory_info()?;
            assert!(free <= all);
            context.run(|| Ok(()))?;
            context.make_current()
        }
    );
}

#[test]
fn a_context_of_ones_own() {
    each_call_fails!([Context::create], |given| {
        let context = Context::create(Device::get(0)?)?;
        given.listen(&context);
        let stream = Stream::new(&context)?;
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        buffer.fill(1, &stream)?;
        drop((context, buffer));
        stream.synchronize()
    });
}

#[test]
fn a_context_knows_what_it_is() {
    asks_no_driver!(
        [
            Context::device,
            Context::id,
            Context::driver_id,
            Context::is_primary,
            Context::uncollected,
            Context::on_error,
            Context::reported_errors,
        ],
        |given| given.context(),
        |context| {
            assert_eq!(context.device().ordinal(), 0);
            assert!(context.id() > 0 && context.driver_id().is_some() && context.is_primary());
            assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
            context.on_error(|error| panic!("{error}"));
            Ok(context)
        }
    );
}
