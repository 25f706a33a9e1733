//! Who a process is, so that a number of it cannot be taken for another's.

use std::fmt;
use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Says which process this is, among all that ever ran on any machine.
///
/// A process number alone is reused, and counts differently in each pid namespace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The number of the machine's boot, random.
    pub boot_id: [u8; 16],
    /// The inode of the pid namespace.
    pub pid_namespace: u64,
    /// The process number in that namespace.
    pub pid: u32,
    /// When the process started, in clock ticks since the boot.
    pub start_time: u64,
}

/// Says what one process is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are the same.
    SameProcess,
    /// They are two processes of one pid namespace.
    SameNamespace,
    /// They run on one machine, but each does not know the other's number.
    OtherNamespace,
    /// They run on two machines, or the machine was booted in between.
    OtherMachine,
}

/// Says why it cannot be told which process this is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A file of `/proc` cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// A file of `/proc` does not have what it should.
    #[error("{path} has no {field}")]
    Malformed {
        /// The file.
        path: &'static str,
        /// What is missing.
        field: &'static str,
    },
    /// `/proc` is of another pid namespace than the process.
    #[error("/proc is of another pid namespace (need process {need}, have {have})")]
    ForeignProc {
        /// The process's number.
        need: u32,
        /// The number of its entry in `/proc`.
        have: u32,
    },
}

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const NAMESPACE: &str = "/proc/self/ns/pid";
const STAT: &str = "/proc/self/stat";

impl Identity {
    /// Asks the system who this process is.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] if `/proc` is missing, incomplete or another namespace's.
    pub fn current() -> Result<Self, IdentityError> {
        let read = |path| {
            std::fs::read_to_string(path)
                .map_err(|source| IdentityError::Unreadable { path, source })
        };
        let boot_id = parse_uuid(read(BOOT_ID)?.trim())
            .ok_or(IdentityError::Malformed { path: BOOT_ID, field: "UUID" })?;
        let namespace = rustix::fs::stat(NAMESPACE)
            .map_err(|error| IdentityError::Unreadable { path: NAMESPACE, source: error.into() })?;
        let stat = Stat::parse(&read(STAT)?)
            .ok_or(IdentityError::Malformed { path: STAT, field: "start time" })?;
        let need = std::process::id();
        if stat.pid != need {
            return Err(IdentityError::ForeignProc { need, have: stat.pid });
        }
        let (pid_namespace, start_time) = (namespace.st_ino, stat.start_time);
        Ok(Self { boot_id, pid_namespace, pid: need, start_time })
    }

    /// Says what this process is to `other`.
    pub fn relation(&self, other: &Self) -> Relation {
        if self == other {
            Relation::SameProcess
        } else if self.boot_id != other.boot_id {
            Relation::OtherMachine
        } else if self.pid_namespace != other.pid_namespace {
            Relation::OtherNamespace
        } else {
            Relation::SameNamespace
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { boot_id, pid_namespace, pid, start_time } = self;
        write!(f, "process {pid} started at {start_time} in namespace {pid_namespace} of boot ")?;
        write_uuid(f, boot_id)
    }
}

/// Is what is of interest in a process's `stat` file.
pub(crate) struct Stat {
    pub(crate) pid: u32,
    /// In clock ticks since the boot.
    pub(crate) start_time: u64,
    /// Tells whether it has ended and was not waited for.
    pub(crate) is_zombie: bool,
}

impl Stat {
    /// Reads the file's text. The program's name may have any characters, also spaces and
    /// parentheses, so that the fields are counted from the last parenthesis.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let pid = text.split_once(' ')?.0.parse().ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        // The state is the third field, the start time the twenty-second.
        let start_time = fields.nth(22 - 3 - 1)?.parse().ok()?;
        Some(Self { pid, start_time, is_zombie: matches!(state, "Z" | "X") })
    }
}

/// Is the UUID of a device, as the driver answers it.
///
/// Driver: `cuDeviceGetUuid_v2`, chapter Device Management.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceUuid([u8; 16]);

impl DeviceUuid {
    /// Makes a UUID of its bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Debug for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU-")?;
        write_uuid(f, &self.0)
    }
}

/// Is the name of an export: random, so that no other has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce([u8; 16]);

impl Nonce {
    /// Draws a nonce from the system's random numbers.
    ///
    /// # Errors
    ///
    /// As the system answers: before Linux 3.17 it has no such call.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        // Up to 256 bytes come at once, or not at all.
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        Ok(Self(bytes))
    }

    /// Makes a nonce of its bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Writes 16 bytes as 8-4-4-4-12 hexadecimal digits.
fn write_uuid(f: &mut fmt::Formatter<'_>, bytes: &[u8; 16]) -> fmt::Result {
    bytes.iter().enumerate().try_for_each(|(at, byte)| {
        let hyphen = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
        write!(f, "{hyphen}{byte:02x}")
    })
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let mut digits = text
        .bytes()
        .filter(|byte| *byte != b'-')
        .map(|byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = digits.next()?? << 4 | digits.next()??;
    }
    digits.next().is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself() {
        let (first, second) = (Identity::current().unwrap(), Identity::current().unwrap());
        assert_eq!(first.relation(&second), Relation::SameProcess);
        assert_eq!(first.pid, std::process::id());
        assert!(first.start_time > 0 && first.boot_id != [0; 16]);
    }

    #[test]
    fn a_relation_goes_from_the_machine_inwards() {
        let this = Identity::current().unwrap();
        let mut other = Identity { start_time: this.start_time + 1, ..this };
        assert_eq!(this.relation(&other), Relation::SameNamespace);
        other.pid_namespace += 1;
        assert_eq!(this.relation(&other), Relation::OtherNamespace);
        other.boot_id[0] ^= 1;
        assert_eq!(this.relation(&other), Relation::OtherMachine);
    }

    #[test]
    fn a_program_may_have_any_name() {
        let fields = (4..22).map(|at| format!("{at} ")).collect::<String>();
        for name in ["sh", "a b", "x) R 1 (y", "((", "\n"] {
            let stat = Stat::parse(&format!("77 ({name}) Z {fields}12345 23 24")).unwrap();
            assert_eq!((stat.pid, stat.start_time, stat.is_zombie), (77, 12345, true), "{name}");
        }
        for text in ["", "77", "77 (sh) R 1 2", "x (sh) R", "77 sh R 1"] {
            assert!(Stat::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn uuids_are_read_and_written() {
        let text = "4a5a94dc-7587-4a7a-912a-8667885b44c5";
        let uuid = DeviceUuid::new(parse_uuid(text).unwrap());
        assert_eq!(uuid.to_string(), format!("GPU-{text}"));
        for text in ["", "4a", &text[1..], "4a5a94dc-7587-4a7a-912a-8667885b44c55", "é"] {
            assert!(parse_uuid(text).is_none(), "{text}");
        }
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(Nonce::random().unwrap(), Nonce::random().unwrap());
    }
}
