//! Errors: those that last, and those that nobody knows.

use cuda_safe::sys::CUresult;
use cuda_safe::{Device, DeviceBuffer, Error, Stream};
use cuda_sim::{Config, isolated};

use crate::common::context;

#[test]
fn row_105_the_first_error_is_told_with_each_that_follows() {
    let code = CUresult::CUDA_ERROR_ASSERT;
    let config = Config::new().break_context("cuStreamSynchronize", 2, code);
    isolated!(config).unchecked().run(|| {
        let (context, stream) = context();
        let buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        stream.synchronize().unwrap();
        let first = stream.synchronize().unwrap_err();
        assert_eq!((first.call, first.code()), ("cuStreamSynchronize", Some(code)));
        assert_eq!(first.first_call(), None, "it is the first itself");
        let later = Stream::new(&context).unwrap_err();
        assert_eq!((later.call, later.code()), ("cuStreamCreate", Some(code)));
        assert_eq!(later.first_call(), Some("cuStreamSynchronize"));
        let text = later.to_string();
        assert!(text.ends_with("; cuStreamSynchronize was the first to be told"), "{text}");
        // Drops report, and panic at nothing.
        drop((buffer, stream));
        assert!(context.reported_errors() > 0);
    });
}

#[test]
fn row_106_an_unknown_code_is_a_number() {
    let text = Error::driver("cuCall", CUresult(9999)).to_string();
    assert_eq!(text, "cuCall: the driver answered 9999");
    isolated!(Config::new().fail("cuStreamCreate", 1, CUresult(9999)), || {
        let context = Device::get(0).unwrap().context().unwrap();
        let error = Stream::new(&context).unwrap_err();
        assert_eq!(error.to_string(), "cuStreamCreate: the driver answered 9999");
        assert_eq!(error.code(), Some(CUresult(9999)));
    });
}
