//! What the simulator found: each entry names both sides.

mod lines;

use std::fmt;
use std::sync::Arc;

use crate::call_site::{self, CallSite};
use crate::engine::access::{AccessBox, AccessKind};
use crate::install::Sim;
use crate::listed::listed;

listed! {
    /// Is what was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    enum FindingKind {
        /// Something is still alive at the end.
        Leak = "leak",
        /// Memory was freed, or references were released, that were gone already.
        DoubleFree = "double free",
        /// Memory is used that was freed.
        UseAfterFree = "use after free",
        /// A handle is used whose object was destroyed.
        StaleHandle = "stale handle",
        /// The host changed what a queued copy reads, between its enqueuing and its run.
        HostSourceChanged = "source changed by the host while its copy was queued",
        /// The host changed what a queued copy writes, between its enqueuing and its run.
        HostDestinationChanged = "destination changed by the host while its copy was queued",
        /// Two pieces of work touch the same bytes, one writes, and nothing orders them.
        Race = "race",
        /// Host and device touch managed memory in a way that its device, or its stream, does not
        /// allow.
        ManagedAccess = "access to managed memory",
        /// Something is used in another context than its own.
        WrongContext = "wrong context",
        /// Something is waited for that nothing can bring about.
        Blocked = "blocked for ever",
        /// A kernel touched bytes that are in no allocation, or that its device may not touch.
        IllegalAddress = "illegal address",
        /// A kernel touched an element at an address that is no multiple of its size.
        MisalignedAddress = "misaligned address",
        /// A kernel's body said that it failed.
        KernelFailed = "kernel failed",
        /// A kernel was launched for which no body is registered.
        UnregisteredKernel = "unregistered kernel",
        /// A kernel touched bytes that its registration does not declare.
        UndeclaredAccess = "undeclared access",
        /// The simulator failed in itself, or a body that it ran panicked.
        Panic = "panic",
        /// Memory was freed while work on it was not known to be done. The driver waits (measured),
        /// though its manual does not promise it. Advice: a report with nothing else is clean.
        FreedWhilePending = "freed while work on it was pending (advice)",
        /// Memory was freed while another process has it mapped: it reads and writes there what the
        /// memory is used for next (measured).
        FreedWhileShared = "freed while another process has it mapped",
    }

    /// Returns what a report calls it.
    fn words
}

impl FindingKind {
    /// Tells whether it is advice, not an error.
    pub const fn is_advice(self) -> bool {
        matches!(self, Self::FreedWhilePending)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Is one of the two calls that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The function's exact name.
    pub call: &'static str,
    /// The parameter.
    pub operand: &'static str,
    /// The stream, if work is meant.
    pub stream: Option<Arc<str>>,
    /// The bytes that it touches, if it touches any.
    pub access: Option<(AccessKind, AccessBox)>,
    /// Where in the program it was made, if [`Config::call_sites`](crate::Config::call_sites) asked
    /// for it.
    pub site: Option<CallSite>,
}

impl Side {
    /// Makes the side of the call that is being answered.
    pub(crate) fn new(call: &'static str, operand: &'static str) -> Self {
        Self { call, operand, stream: None, access: None, site: call_site::current() }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if !self.operand.is_empty() {
            write!(f, "'s {}", self.operand)?;
        }
        if let Some(stream) = &self.stream {
            write!(f, " on {stream}")?;
        }
        match &self.access {
            Some((AccessKind::Read, area)) => write!(f, " reads {area}")?,
            Some((AccessKind::Write, area)) => write!(f, " writes {area}")?,
            Some((AccessKind::Atomic, area)) => write!(f, " updates {area}")?,
            None => {}
        }
        match &self.site {
            Some(site) => fmt::Display::fmt(site, f),
            None => Ok(()),
        }
    }
}

/// Is one thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The call that came first, if two are meant: the other one of a race, or what made or ended that
    /// which the later one names.
    pub earlier: Option<Side>,
    /// The call that is wrong, or the later of two.
    pub later: Side,
    /// What is meant, in words.
    pub subject: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.kind, self.subject, self.later)?;
        match &self.earlier {
            Some(earlier) => write!(f, "; earlier: {earlier}"),
            None => Ok(()),
        }
    }
}

/// Is what the simulator found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// All findings, in order; equal ones stand once.
    pub findings: Vec<Finding>,
    /// How many findings beyond the first thousand are left out, equal ones not told apart.
    pub left_out: u64,
    /// How many pieces of work are still queued.
    pub pending: usize,
    /// A hash of the order in which queued work ran.
    pub order: u64,
}

impl Report {
    /// Tells whether nothing is wrong. Advice does not count.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind.is_advice())
    }

    /// Returns how many findings are of that kind.
    pub fn count(&self, kind: FindingKind) -> usize {
        self.findings.iter().filter(|finding| finding.kind == kind).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            write!(f, "nothing was found")?;
        }
        for (position, finding) in self.findings.iter().enumerate() {
            let separator = if position == 0 { "" } else { "\n" };
            write!(f, "{separator}{finding}")?;
        }
        if self.left_out > 0 {
            write!(f, "\nand {} more", self.left_out)?;
        }
        write!(
            f,
            "\n{} pieces of work are queued; order of the rest: {:016x}",
            self.pending, self.order
        )
    }
}

/// Returns what was found so far; nothing if the simulator is not installed.
///
/// ```
/// cuda_sim::install(cuda_sim::Config::new())?;
/// assert!(cuda_sim::report().is_clean());
/// # Ok::<(), cuda_sim::InstallError>(())
/// ```
pub fn report() -> Report {
    Sim::get().map_or_else(empty, |sim| sim.lock().report())
}

/// Returns what was found, and what is still alive, as at the end of a program.
pub fn finish() -> Report {
    Sim::get().map_or_else(empty, |sim| {
        let state = sim.lock();
        let mut report = state.report();
        report.findings.extend(state.leaks());
        report
    })
}

const fn empty() -> Report {
    Report { findings: Vec::new(), left_out: 0, pending: 0, order: 0 }
}

/// Collects findings.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    left_out: u64,
}

/// How many findings are kept: a loop with one mistake is one mistake.
const LIMIT: usize = 1000;

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        if self.all.len() >= LIMIT {
            self.left_out += 1;
        } else if !self.all.contains(&finding) {
            self.all.push(finding);
        }
    }

    pub(crate) const fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(crate) fn all(&self) -> &[Finding] {
        &self.all
    }
}
