//! What exporter and importer say to each other.
//!
//! A message begins as a descriptor does: magic `CUDALEAS`, version 1, kind, length, CRC-32C. The
//! importer says HELLO, the exporter WELCOME; then CLAIM is answered by GRANT or DENY, and a lease
//! lasts from GRANT until RELEASE or the importer's death.

use super::error::Denial;
use crate::identity::Identity;
use crate::wire::{self, Reader, WireError};

const MAGIC: [u8; 8] = *b"CUDALEAS";
const VERSION: u16 = 1;

/// Is a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The importer says who it is. Always the first.
    Hello(Identity),
    /// The exporter says who it is. Always the first of its.
    Welcome(Identity),
    /// The importer asks for a lease of what a descriptor names.
    Claim {
        /// The importer's number for the question.
        request: u64,
        /// The descriptor's bytes.
        descriptor: Vec<u8>,
    },
    /// The exporter gives a lease.
    Grant {
        request: u64,
        lease: u64,
        /// The highest value that was announced.
        announced: u64,
    },
    /// The exporter gives none.
    Deny { request: u64, denial: Denial },
    /// The exporter says that its work is done, up to a value.
    Announce { lease: u64, value: u64 },
    /// The exporter asks for the end of a lease.
    Revoke { lease: u64 },
    /// The importer ends a lease: every use has ended, and nothing is mapped any more.
    Release { lease: u64 },
}

impl Message {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "HELLO",
            Self::Welcome(_) => "WELCOME",
            Self::Claim { .. } => "CLAIM",
            Self::Grant { .. } => "GRANT",
            Self::Deny { .. } => "DENY",
            Self::Announce { .. } => "ANNOUNCE",
            Self::Revoke { .. } => "REVOKE",
            Self::Release { .. } => "RELEASE",
        }
    }

    const fn kind(&self) -> u16 {
        match self {
            Self::Hello(_) => 1,
            Self::Welcome(_) => 2,
            Self::Claim { .. } => 3,
            Self::Grant { .. } => 4,
            Self::Deny { .. } => 5,
            Self::Announce { .. } => 6,
            Self::Revoke { .. } => 7,
            Self::Release { .. } => 8,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.kind().to_le_bytes());
        // Length and checksum are known at the end.
        bytes.extend([0; 8]);
        let mut put = |numbers: &[u64]| {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        };
        match self {
            Self::Hello(identity) | Self::Welcome(identity) => {
                wire::put_identity(&mut bytes, identity);
            }
            Self::Claim { request, descriptor } => {
                put(&[*request]);
                bytes.extend(descriptor);
            }
            Self::Grant { request, lease, announced } => put(&[*request, *lease, *announced]),
            Self::Deny { request, denial } => put(&[*request, denial.number().into()]),
            Self::Announce { lease, value } => put(&[*lease, *value]),
            Self::Revoke { lease } | Self::Release { lease } => put(&[*lease]),
        }
        wire::seal(&mut bytes);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let (kind, mut reader) = wire::unseal(bytes, MAGIC, VERSION)?;
        let message = Self::read(kind, &mut reader)?;
        reader.end()?;
        Ok(message)
    }

    fn read(kind: u16, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match kind {
            1 => Self::Hello(wire::read_identity(reader)?),
            2 => Self::Welcome(wire::read_identity(reader)?),
            3 => {
                Self::Claim { request: reader.u64("request")?, descriptor: reader.rest().to_vec() }
            }
            4 => Self::Grant {
                request: reader.u64("request")?,
                lease: reader.u64("lease")?,
                announced: reader.u64("announced")?,
            },
            5 => {
                let request = reader.u64("request")?;
                let denial = Denial::from_number(reader.u16("denial")?);
                reader.zero::<6>("reserved")?;
                Self::Deny { request, denial }
            }
            6 => Self::Announce { lease: reader.u64("lease")?, value: reader.u64("value")? },
            7 => Self::Revoke { lease: reader.u64("lease")? },
            8 => Self::Release { lease: reader.u64("lease")? },
            _ => {
                let (field, need) = ("kind", "1 to 8");
                return Err(WireError::Unknown { field, need, have: kind.into() });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages() -> impl Strategy<Value = Message> {
        let identity = (any::<[u8; 16]>(), any::<u64>(), any::<u32>(), any::<u64>()).prop_map(
            |(boot_id, pid_namespace, pid, start_time)| Identity {
                boot_id,
                pid_namespace,
                pid,
                start_time,
            },
        );
        let numbers = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u16>());
        let bytes = prop::collection::vec(any::<u8>(), 0..300);
        (0..8_u8, identity, numbers, bytes).prop_map(|(kind, identity, numbers, descriptor)| {
            let (request, lease, value, denial) = numbers;
            match kind {
                0 => Message::Hello(identity),
                1 => Message::Welcome(identity),
                2 => Message::Claim { request, descriptor },
                3 => Message::Grant { request, lease, announced: value },
                4 => Message::Deny { request, denial: Denial::from_number(denial) },
                5 => Message::Announce { lease, value },
                6 => Message::Revoke { lease },
                _ => Message::Release { lease },
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_said_is_understood(message in messages()) {
            prop_assert_eq!(Message::decode(&message.encode()), Ok(message));
        }

        #[test]
        fn any_changed_byte_is_found(
            message in messages(),
            at in any::<prop::sample::Index>(),
            change in 1..=u8::MAX,
        ) {
            let mut bytes = message.encode();
            let at = at.index(bytes.len());
            bytes[at] ^= change;
            prop_assert!(Message::decode(&bytes).is_err());
        }

        #[test]
        fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Message::decode(&bytes).is_err());
        }
    }
}
