//! Host functions: `cuLaunchHostFunc`, and the thread that runs them.
//!
//! Unsafe, because it calls a function of the program's with the program's pointer.

#![expect(unsafe_code, reason = "a host function is called as its program said")]
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use cuda_sys::{CUhostFn, CUresult, CUstream};

use crate::engine::work::{ItemId, Work};
use crate::entry::{Answer, Session, simulate};
use crate::install::Sim;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether the calling thread runs a host function.
pub(crate) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Is a host function with its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFunction {
    function: unsafe extern "system" fn(*mut c_void),
    data: usize,
}

impl HostFunction {
    /// Makes it of what a call says; a call without a function is refused.
    pub(crate) fn new(function: CUhostFn, data: *mut c_void) -> Result<Self, CUresult> {
        let function = function.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        Ok(Self { function, data: data.expose_provenance() })
    }

    /// Returns both as a call has them.
    pub(crate) fn parts(self) -> (CUhostFn, *mut c_void) {
        (Some(self.function), std::ptr::with_exposed_provenance_mut(self.data))
    }
}

enum Message {
    /// Work was queued that others than driver calls may wait for.
    Queued,
    /// It is its turn.
    Call(ItemId, HostFunction),
    /// Nothing refers to a user object any more.
    Destroy(HostFunction),
}

/// Is the way to the thread that runs host functions.
#[derive(Debug, Default)]
pub(crate) struct Callbacks {
    thread: Option<Sender<Message>>,
}

impl Callbacks {
    /// Starts the thread if it isn't there.
    pub(crate) fn start(&mut self, sim: &'static Sim) -> Result<(), CUresult> {
        if self.thread.is_none() {
            let (sender, receiver) = channel();
            let patience = sim.patience();
            thread::Builder::new()
                .name("cuda-sim host functions".to_owned())
                .spawn(move || serve(sim, &receiver, patience))
                .map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)?;
            self.thread = Some(sender);
        }
        Ok(())
    }

    /// Tells the thread that work was queued that others than driver calls may wait for.
    pub(crate) fn announce(&self) {
        self.send(Message::Queued);
    }

    /// Gives a host function to the thread.
    pub(crate) fn call(&self, item: ItemId, function: HostFunction) {
        self.send(Message::Call(item, function));
    }

    /// Gives the destructor of a user object to the thread.
    pub(crate) fn destroy(&self, destructor: HostFunction) {
        self.send(Message::Destroy(destructor));
    }

    fn send(&self, message: Message) {
        if let Some(thread) = &self.thread {
            // The thread ends with the process only.
            let _ = thread.send(message);
        }
    }
}

/// Calls a function of the program's.
fn run(HostFunction { function, data }: HostFunction) {
    INSIDE.set(true);
    let data = std::ptr::with_exposed_provenance_mut(data);
    // SAFETY: the program gave both to the driver, to be called so, at this time.
    unsafe { function(data) };
    INSIDE.set(false);
}

/// Runs host functions, and lets those that nobody waits for come to their turn.
fn serve(sim: &'static Sim, messages: &Receiver<Message>, patience: Duration) {
    let mut queued = false;
    loop {
        let message = if queued {
            messages.recv_timeout(patience)
        } else {
            messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match message {
            Ok(Message::Queued) => queued = true,
            Ok(Message::Call(item, function)) => {
                run(function);
                sim.lock().called(item);
                sim.notify();
            }
            Ok(Message::Destroy(function)) => run(function),
            Err(RecvTimeoutError::Timeout) => {
                let mut state = sim.lock();
                let calls = state.queue.awaited();
                queued = !calls.is_empty();
                state.drive(&calls);
                drop(state);
                sim.notify();
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Queues a host function.
pub(crate) fn submit(
    mut session: Session,
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> Answer {
    let function = HostFunction::new(function, data)?;
    let lane = session.lane_for_work(stream)?;
    let sim = session.sim;
    session.callbacks.start(sim)?;
    session.submit(lane, &[], Work::Call(function))?;
    Ok(())
}

simulate! {
    /// Queues a host function. It runs on a thread of its own, and driver calls in it answer
    /// `CUDA_ERROR_NOT_PERMITTED`, unless they ask for the version, or whether a busy stream is done
    /// (measured).
    fn cuLaunchHostFunc(stream: val CUstream, function: val CUhostFn, data: val *mut c_void)
    with cuLaunchHostFunc_ptsz
    |session| {
        submit(session, stream, function, data)
    }
}
