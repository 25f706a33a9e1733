//! Errors and types of elements, which are values.

use cuda_safe::sys::{CUresult, LoadError, Unavailable};
use cuda_safe::{DType, Error, Item, Quantity, Rule};

#[test]
fn values_ask_nothing() {
    asks_no_driver!(
        [
            DType::new,
            DType::code,
            DType::bits,
            DType::lanes,
            DType::size,
            DType::typestr,
            Error::refused,
            Error::driver,
            Error::unavailable,
            Error::code,
            Error::first_call,
            Error::rule,
            Error::is_not_ready,
            Error::is_unsupported,
            Rule::meaning,
            Item::size,
        ],
        |_given| Ok(()),
        |()| {
            let wide = DType::new(2, 32, 4).unwrap();
            assert_eq!((wide.code(), wide.bits(), wide.lanes(), wide.size()), (2, 32, 4, 16));
            assert_eq!(DType::F32.typestr().as_deref(), Some("<f4"));
            assert_eq!(<u32 as Item>::size(()), 4);
            let none = Quantity::Word("none");
            let refused = Error::refused("call", "operand", Rule::Reach, none, none);
            assert_eq!((refused.rule(), refused.code()), (Some(Rule::Reach), None));
            assert!(Rule::Reach.meaning().contains("operand"));
            let code = CUresult::CUDA_ERROR_NOT_READY;
            assert!(Error::driver("call", code).is_not_ready());
            assert_eq!(Error::driver("call", code).first_call(), None);
            let (title, override_variable) = ("a driver", "A_VARIABLE");
            let none = LoadError::NotFound { title, override_variable, tried: Vec::new() };
            assert!(!Error::unavailable("call", Unavailable::Load(none)).is_unsupported());
            Ok(())
        }
    );
}
