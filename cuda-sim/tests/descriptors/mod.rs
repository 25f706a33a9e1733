//! A second process that does what the first one tells it over a socket, which carries descriptors.

#![allow(dead_code, unused_macros, unused_imports, reason = "not every test uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::panic,
    reason = "the second process is a test too"
)]

use std::ffi::c_void;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Child;
use std::ptr;

use cuda_sys::*;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::common::*;
use crate::mapped::*;
use crate::stream_memory;

const SOCKET: &str = "CUDA_SIM_TEST_SOCKET";

pub(crate) const FILE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

fn send(socket: &UnixStream, text: &str, file: Option<BorrowedFd<'_>>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files: Vec<_> = file.into_iter().collect();
    if !files.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
    }
    let text = format!("{text}\n");
    let sent = sendmsg(socket, &[IoSlice::new(text.as_bytes())], &mut control, SendFlags::empty());
    assert_eq!(sent.unwrap(), text.len());
}

/// Receives one line, and the descriptor with it; none if the other is gone.
fn receive(socket: &UnixStream) -> Option<(Vec<String>, Option<OwnedFd>)> {
    let (mut bytes, mut file) = (Vec::new(), None);
    while bytes.last() != Some(&b'\n') {
        let mut part = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut part)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let count = recvmsg(socket, &mut parts, &mut control, flags).ok()?.bytes;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut files) = message {
                file = files.next();
            }
        }
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&part[..count]);
    }
    let text = String::from_utf8(bytes).unwrap();
    Some((text.split_whitespace().map(str::to_owned).collect(), file))
}

/// Is the second process, as the first one sees it.
pub(crate) struct Other {
    child: Child,
    socket: UnixStream,
    _folder: tempfile::TempDir,
}

impl Other {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let child = cuda_sim::peer("other").unwrap().env(SOCKET, &path).spawn().unwrap();
        let (socket, _) = listener.accept().unwrap();
        Self { child, socket, _folder: folder }
    }

    /// Tells it to do something, and returns the numbers that it answers, and a descriptor.
    pub(crate) fn ask(&self, order: &str, file: Option<&OwnedFd>) -> (Vec<u64>, Option<OwnedFd>) {
        send(&self.socket, order, file.map(AsFd::as_fd));
        let (words, file) = receive(&self.socket).unwrap();
        (words.iter().map(|word| word.parse().unwrap()).collect(), file)
    }

    pub(crate) fn number(&self, order: &str) -> u64 {
        self.ask(order, None).0[0]
    }

    /// Maps the memory of a descriptor, and returns where.
    pub(crate) fn map(&self, file: &OwnedFd, size: usize) -> u64 {
        self.ask(&format!("map {size}"), Some(file)).0[0]
    }

    /// Imports a pointer, and returns the code and the address.
    pub(crate) fn pointer(&self, told: &[u8; 64]) -> (u64, u64) {
        let told: Vec<_> = told.iter().map(u8::to_string).collect();
        let (words, _) = self.ask(&format!("pointer {}", told.join(" ")), None);
        (words[0], words[1])
    }

    pub(crate) fn end(mut self) {
        self.ask("end", None);
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns a descriptor as the driver takes it.
pub(crate) fn as_pointer(file: &OwnedFd) -> *mut c_void {
    ptr::without_provenance_mut(usize::try_from(file.as_raw_fd()).unwrap())
}

/// Takes the descriptor that the driver has made.
fn owned(number: i32) -> OwnedFd {
    // SAFETY: the driver has just made it for its caller.
    unsafe { OwnedFd::from_raw_fd(number) }
}

pub(crate) fn export(handle: CUmemGenericAllocationHandle) -> OwnedFd {
    let mut number = -1;
    let out: *mut i32 = &mut number;
    ok!(cuMemExportToShareableHandle(out.cast(), handle, FILE, 0));
    owned(number)
}

pub(crate) fn export_pool(pool: CUmemoryPool) -> OwnedFd {
    let mut number = -1;
    let out: *mut i32 = &mut number;
    ok!(cuMemPoolExportToShareableHandle(out.cast(), pool, FILE, 0));
    owned(number)
}

pub(crate) fn export_pointer(address: CUdeviceptr) -> (u32, [u8; 64]) {
    let mut told = CUmemPoolPtrExportData::zeroed();
    (code!(cuMemPoolExportPointer(&mut told, address)), told.reserved)
}

pub(crate) fn import_pool(file: &OwnedFd) -> CUmemoryPool {
    let mut pool = ptr::null_mut();
    ok!(cuMemPoolImportFromShareableHandle(&mut pool, as_pointer(file), FILE, 0));
    pool
}

pub(crate) fn import_pointer(pool: CUmemoryPool, told: &[u8; 64]) -> (u32, CUdeviceptr) {
    let mut told = CUmemPoolPtrExportData { reserved: *told };
    let mut address = CUdeviceptr(0);
    (code!(cuMemPoolImportPointer(&mut address, pool, &mut told)), address)
}

/// Maps the memory of a descriptor where device 0 may do all with it.
pub(crate) fn map_file(file: &OwnedFd, size: usize) -> CUdeviceptr {
    let mut handle = CUmemGenericAllocationHandle(0);
    ok!(cuMemImportFromShareableHandle(&mut handle, as_pointer(file), FILE));
    let base = reserve(size);
    map(base, size, 0, handle);
    grant(base, size, 3);
    ok!(cuMemRelease(handle));
    base
}

pub(crate) fn unmap(base: CUdeviceptr, size: usize) {
    ok!(cuMemUnmap(base, size));
    ok!(cuMemAddressFree(base, size));
}

/// Makes memory that is full of a byte, and returns a descriptor of it.
pub(crate) fn make(size: usize, byte: u8) -> (CUdeviceptr, OwnedFd) {
    let (handle, base) = (create(size, 1), reserve(size));
    map(base, size, 0, handle);
    grant(base, size, 3);
    ok!(cuMemsetD8_v2(base, byte, size));
    ok!(cuCtxSynchronize());
    let file = export(handle);
    ok!(cuMemRelease(handle));
    (base, file)
}

/// Does what the first process says.
pub(crate) fn serve() {
    let socket = UnixStream::connect(std::env::var_os(SOCKET).unwrap()).unwrap();
    start();
    let mut pool = ptr::null_mut();
    // Killed, the first process is gone without a word.
    while let Some((words, file)) = receive(&socket) {
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        let address = |at: usize| CUdeviceptr(number(at));
        let mut made = None;
        let reply = match words[0].as_str() {
            "map" => map_file(&file.unwrap(), number(1) as usize).0.to_string(),
            // Takes the descriptor out of the first process.
            "take" => {
                let pid = Pid::from_raw(number(1) as i32).unwrap();
                let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
                match pidfd_getfd(&process, number(2) as i32, PidfdGetfdFlags::empty()) {
                    Ok(file) => map_file(&file, number(3) as usize).0.to_string(),
                    Err(_) => "0".to_owned(),
                }
            }
            "make" => {
                let (base, file) = make(number(1) as usize, number(2) as u8);
                made = Some(file);
                base.0.to_string()
            }
            "unmap" => {
                unmap(address(1), number(2) as usize);
                "0".to_owned()
            }
            "read" => read(address(1), 1)[0].to_string(),
            "fill" => {
                ok!(cuMemsetD8_v2(address(1), number(2) as u8, number(3) as usize));
                code!(cuCtxSynchronize()).to_string()
            }
            "pool" => {
                pool = import_pool(&file.unwrap());
                "0".to_owned()
            }
            "pointer" => {
                let told = std::array::from_fn(|at| number(at + 1) as u8);
                let (answer, address) = import_pointer(pool, &told);
                format!("{answer} {}", address.0)
            }
            "alloc" => {
                let mut address = CUdeviceptr(0);
                code!(cuMemAllocFromPoolAsync(&mut address, 64, pool, LEGACY)).to_string()
            }
            "free" => {
                let answer = code!(cuMemFreeAsync(address(1), LEGACY));
                ok!(cuCtxSynchronize());
                answer.to_string()
            }
            // Makes a pool with memory in it, and returns what tells both.
            "make-pool" => {
                pool = stream_memory::create(1, 0);
                let memory = stream_memory::alloc_from(pool, 4096, LEGACY);
                ok!(cuMemsetD8_v2(memory, number(1) as u8, 4096));
                ok!(cuCtxSynchronize());
                made = Some(export_pool(pool));
                export_pointer(memory).1.map(|byte| byte.to_string()).join(" ")
            }
            "destroy" => code!(cuMemPoolDestroy(pool)).to_string(),
            "end" => {
                end();
                send(&socket, "0", None);
                return;
            }
            order => panic!("{order}"),
        };
        send(&socket, &reply, made.as_ref().map(AsFd::as_fd));
    }
}

/// Runs a body under each scheduler, beside a second process that serves it.
macro_rules! two_processes {
    (unchecked, $body:expr) => {
        isolated!(Config::new()).unchecked().run_on_every_scheduler(1, || {
            let body: fn() = $body;
            if cuda_sim::role().is_some() { serve() } else { body() }
        })
    };
    ($body:expr) => {
        on_every_scheduler!(Config::new(), || {
            let body: fn() = $body;
            if cuda_sim::role().is_some() { serve() } else { body() }
        })
    };
}

pub(crate) use two_processes;
