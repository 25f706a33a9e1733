//! Every kind of finding: a program that has the mistake, which is found and names its calls, and the
//! same program without it, of which nothing is said.

#![expect(clippy::panic, reason = "what the tests share is a test too, and a kernel panics")]

#[path = "../common/mod.rs"]
mod common;
mod kernels;
mod programs;
#[path = "../remote/mod.rs"]
mod remote;

use common::*;
use cuda_sim::{Config, Feature, FindingKind, Scheduler, isolated, role};

/// Is a kind's program, and what the finding has to name.
pub(crate) struct Program {
    /// The call that is wrong, or the later of two.
    pub(crate) later: &'static str,
    /// The call that came first, if two are meant.
    pub(crate) earlier: Option<&'static str>,
    /// Runs with the mistake, or corrected.
    pub(crate) run: fn(is_right: bool),
}

/// Runs the mistake; it must be found, and nothing else.
fn found(kind: FindingKind, program: &Program) {
    if role().is_some() {
        return remote::serve();
    }
    start();
    (program.run)(false);
    let mut report = cuda_sim::finish();
    // What a program with a mistake holds at its end is no matter here, but for leaks themselves.
    report.findings.retain(|found| found.kind == kind || found.kind != FindingKind::Leak);
    let [finding] = &report.findings[..] else { panic!("{kind:?}: {report}") };
    assert_eq!(finding.kind, kind, "{report}");
    assert_eq!(finding.later.call, program.later, "{report}");
    assert_eq!(finding.earlier.as_ref().map(|side| side.call), program.earlier, "{report}");
    // One kind is advice, and makes no report unclean.
    let is_advice = kind == FindingKind::FreedWhilePending;
    assert_eq!((report.is_clean(), kind.is_advice()), (is_advice, is_advice), "{report}");
}

/// Runs the corrected program, of which nothing may be found, not even advice or a leak.
fn silent(program: &Program) {
    if role().is_some() {
        return remote::serve();
    }
    start();
    (program.run)(true);
    end();
    let report = cuda_sim::finish();
    assert!(report.findings.is_empty(), "{report}");
}

/// Makes the two tests of each kind, and lists the kinds that have them.
macro_rules! kinds {
    ($($kind:ident: $program:expr, $config:expr;)*) => {
        const TESTED: &[FindingKind] = &[$(FindingKind::$kind),*];

        $(
            #[expect(non_snake_case, reason = "a kind's tests have its name")]
            mod $kind {
                use super::*;

                #[test]
                fn is_found() {
                    let config = $config.scheduler(Scheduler::Lazy);
                    isolated!(config).unchecked().run(|| found(FindingKind::$kind, &$program));
                }

                #[test]
                fn is_not_found_in_the_corrected_program() {
                    isolated!($config).unchecked().run_on_every_scheduler(2, || silent(&$program));
                }
            }
        )*
    };
}

kinds! {
    Leak: programs::LEAK, Config::new();
    DoubleFree: programs::DOUBLE_FREE, Config::new();
    UseAfterFree: programs::USE_AFTER_FREE, Config::new();
    StaleHandle: programs::STALE_HANDLE, Config::new();
    HostSourceChanged: programs::HOST_SOURCE_CHANGED, Config::new();
    HostDestinationChanged: programs::HOST_DESTINATION_CHANGED, Config::new();
    Race: programs::RACE, Config::new();
    ManagedAccess: programs::MANAGED_ACCESS, Config::new().without(Feature::ConcurrentManagedAccess);
    WrongContext: programs::WRONG_CONTEXT, Config::new();
    Blocked: programs::BLOCKED, Config::new().host_function_patience(programs::PATIENCE);
    IllegalAddress: kernels::ILLEGAL_ADDRESS, Config::new();
    MisalignedAddress: kernels::MISALIGNED_ADDRESS, Config::new();
    KernelFailed: kernels::KERNEL_FAILED, Config::new();
    UnregisteredKernel: kernels::UNREGISTERED_KERNEL, Config::new();
    UndeclaredAccess: kernels::UNDECLARED_ACCESS, Config::new();
    Panic: kernels::PANIC, Config::new();
    FreedWhilePending: programs::FREED_WHILE_PENDING, Config::new();
    FreedWhileShared: programs::FREED_WHILE_SHARED, Config::new();
}

#[test]
fn every_kind_has_its_tests() {
    let missing: Vec<_> = FindingKind::ALL.iter().filter(|kind| !TESTED.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let words: std::collections::BTreeSet<_> =
        FindingKind::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), FindingKind::ALL.len(), "two kinds are called alike");
}
