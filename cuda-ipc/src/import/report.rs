//! Errors that nobody is there to be told: those of what is closed when it is dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuda_safe::Error;

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Calls `hook` with each error of a mapping that could not be closed after it was dropped. Such
/// memory stays mapped and leased until the process ends.
pub fn on_unclosed(hook: impl Fn(&Error) + Send + Sync + 'static) {
    *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
}

/// Returns how many mappings could not be closed after they were dropped.
pub fn unclosed() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

pub(super) fn report(error: &Error) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(hook) = hook {
        hook(error);
    }
}
