//! The descriptor: a document that says what memory is shared, by whom, and how an array lies in
//! it.
//!
//! Version 1. All numbers are little-endian; every byte has a meaning, and there is one encoding of
//! a descriptor.
//!
//! | at | bytes | field | |
//! |---|---|---|---|
//! | 0 | 8 | magic | `CUDA-IPC` |
//! | 8 | 2 | version | 1 |
//! | 10 | 2 | flags | 0 |
//! | 12 | 4 | length | of the whole descriptor |
//! | 16 | 4 | checksum | CRC-32C of all bytes, with these four taken as 0 |
//! | 20 | 4 | pid | of the exporter |
//! | 24 | 16 | boot id | of the exporter's machine |
//! | 40 | 8 | pid namespace | its inode |
//! | 48 | 8 | start time | of the exporter, in clock ticks since the boot |
//! | 56 | 16 | device | UUID |
//! | 72 | 8 | buffer id | `CU_POINTER_ATTRIBUTE_BUFFER_ID` in the exporter |
//! | 80 | 16 | nonce | random; names the export |
//! | 96 | 8 | allocation size | bytes |
//! | 104 | 8 | offset | bytes from the allocation's first to the element at index 0 |
//! | 112 | 1 | dtype code | DLPack's |
//! | 113 | 1 | dtype bits | |
//! | 114 | 2 | dtype lanes | |
//! | 116 | 2 | ndim | at most 64 |
//! | 118 | 2 | handle kind | 1: legacy memory handle |
//! | 120 | 2 | handle length | 64 |
//! | 122 | 6 | reserved | 0 |
//! | 128 | 64 | handle | |
//! | 192 | 8 × ndim | shape | signed |
//! | | 8 × ndim | strides | signed, in bytes |
//!
//! [`decode`](Descriptor::decode) proves of what it returns that every element lies in the
//! allocation. It proves nothing about the handle: the checksum finds accidents, not attackers.

mod decode;
mod descriptor;
mod encode;
mod error;
mod handle;
mod reader;

pub use cuda_safe::DType;
pub use descriptor::{Descriptor, Source};
pub use error::WireError;
pub use handle::{LEGACY_HANDLE_SIZE, MemoryHandle};

pub(crate) use encode::{put_identity, seal};
pub(crate) use reader::Reader;

pub(crate) use decode::{read_identity, unseal};

/// The first bytes of a descriptor.
pub const MAGIC: [u8; 8] = *b"CUDA-IPC";

/// The version of the format that is written and read here.
pub const VERSION: u16 = 1;

/// The bytes of a descriptor of an array without axes.
pub const FIXED_SIZE: usize = 192;

/// Where in a message the checksum stands.
const CHECKSUM_AT: usize = 16;
