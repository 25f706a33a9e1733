//! A second process that does what the first one tells it over a socket.

#![allow(dead_code, unused_macros, unused_imports, reason = "not every test uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::panic,
    reason = "the second process is a test too"
)]

use std::ffi::c_char;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Child;

use cuda_sys::*;

use crate::common::busy::Busy;
use crate::common::*;

const SOCKET: &str = "CUDA_SIM_TEST_SOCKET";

/// Is the second process, as the first one sees it.
pub(crate) struct Remote {
    child: Child,
    replies: BufReader<UnixStream>,
    orders: UnixStream,
    _folder: tempfile::TempDir,
}

impl Remote {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let child = cuda_sim::peer("remote").unwrap().env(SOCKET, &path).spawn().unwrap();
        let (orders, _) = listener.accept().unwrap();
        let replies = BufReader::new(orders.try_clone().unwrap());
        Self { child, replies, orders, _folder: folder }
    }

    pub(crate) fn ask(&mut self, order: &str) -> Vec<String> {
        writeln!(self.orders, "{order}").unwrap();
        let mut reply = String::new();
        self.replies.read_line(&mut reply).unwrap();
        reply.split_whitespace().map(str::to_owned).collect()
    }

    /// Opens a handle, and returns the code and the address.
    pub(crate) fn open(&mut self, handle: [u8; 64]) -> (u32, u64) {
        self.open_with(handle, 1)
    }

    pub(crate) fn open_with(&mut self, handle: [u8; 64], flags: u32) -> (u32, u64) {
        let reply = self.ask(&format!("open {} {flags}", hex(&handle)));
        (reply[0].parse().unwrap(), reply[1].parse().unwrap())
    }

    /// Opens an event's handle.
    pub(crate) fn open_event(&mut self, handle: [u8; 64]) -> u64 {
        let reply = self.ask(&format!("event-open {}", hex(&handle)));
        assert_eq!(reply[0], "0");
        reply[1].parse().unwrap()
    }

    /// Lets it record an event of its own behind work of that long, and returns the handle.
    pub(crate) fn record_behind_work(&mut self, milliseconds: u64) -> [u8; 64] {
        let reply = self.ask(&format!("event-record-behind-work {milliseconds}"));
        assert_eq!(reply[0], "0");
        unhex(&reply[1])
    }

    /// Lets it record an event of this process behind work of that long.
    pub(crate) fn record_imported_behind_work(
        &mut self,
        handle: [u8; 64],
        milliseconds: u64,
    ) -> u32 {
        self.code(&format!("imported-record-behind-work {} {milliseconds}", hex(&handle)))
    }

    pub(crate) fn code(&mut self, order: &str) -> u32 {
        self.ask(order)[0].parse().unwrap()
    }

    /// Reads the byte at an address.
    pub(crate) fn read(&mut self, address: u64) -> u8 {
        let reply = self.ask(&format!("read {address} 1"));
        assert_eq!(reply[0], "0");
        reply[1].parse().unwrap()
    }

    pub(crate) fn alloc(&mut self, bytes: usize) -> u64 {
        self.ask(&format!("alloc {bytes}"))[0].parse().unwrap()
    }

    pub(crate) fn handle(&mut self, address: u64) -> [u8; 64] {
        unhex(&self.ask(&format!("handle {address}"))[1])
    }

    pub(crate) fn end(mut self) {
        self.ask("end");
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> [u8; 64] {
    std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}

pub(crate) fn open(handle: [u8; 64], flags: u32) -> (u32, u64) {
    let mut address = CUdeviceptr(0);
    let handle = CUipcMemHandle { reserved: handle.map(|byte| c_char::from_ne_bytes([byte])) };
    (code!(cuIpcOpenMemHandle_v2(&mut address, handle, flags)), address.0)
}

pub(crate) fn handle_of(address: CUdeviceptr) -> (u32, [u8; 64]) {
    let mut handle = CUipcMemHandle::zeroed();
    let answer = code!(cuIpcGetMemHandle(&mut handle, address));
    (answer, handle.reserved.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes())))
}

pub(crate) fn open_event(handle: [u8; 64]) -> (u32, CUevent) {
    let mut event = std::ptr::null_mut();
    let handle = CUipcEventHandle { reserved: handle.map(|byte| c_char::from_ne_bytes([byte])) };
    (code!(cuIpcOpenEventHandle(&mut event, handle)), event)
}

/// Makes an interprocess event, and its handle.
pub(crate) fn shared_event() -> (CUevent, [u8; 64]) {
    let (mut event, mut handle) = (std::ptr::null_mut(), CUipcEventHandle::zeroed());
    ok!(cuEventCreate(&mut event, 6));
    ok!(cuIpcGetEventHandle(&mut handle, event));
    (event, handle.reserved.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes())))
}

fn as_event(number: u64) -> CUevent {
    std::ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap())
}

/// Records an event behind work that takes that long.
fn record_behind_work(event: CUevent, milliseconds: u64) -> u32 {
    let busy = Busy::load();
    let stream = stream(1);
    busy.stream(stream, milliseconds);
    code!(cuEventRecord(event, stream))
}

/// Does what the first process says.
pub(crate) fn serve() {
    let stream = UnixStream::connect(std::env::var_os(SOCKET).unwrap()).unwrap();
    let mut replies = stream.try_clone().unwrap();
    start();
    for order in BufReader::new(stream).lines() {
        let order = order.unwrap();
        let words: Vec<&str> = order.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        let reply = match words[0] {
            "open" => {
                let (answer, address) = open(unhex(words[1]), number(2) as u32);
                format!("{answer} {address}")
            }
            "close" => code!(cuIpcCloseMemHandle(CUdeviceptr(number(1)))).to_string(),
            "read" => {
                let mut bytes = vec![0_u8; number(2) as usize];
                let host = bytes.as_mut_ptr().cast();
                let answer = code!(cuMemcpyDtoH_v2(host, CUdeviceptr(number(1)), bytes.len()));
                format!("{answer} {}", bytes[bytes.len() - 1])
            }
            "fill" => {
                let (address, value) = (CUdeviceptr(number(1)), number(2) as u8);
                let answer = code!(cuMemsetD8_v2(address, value, number(3) as usize));
                ok!(cuCtxSynchronize());
                answer.to_string()
            }
            // Nothing waits for it.
            "fill-later" => {
                let (address, value) = (CUdeviceptr(number(1)), number(2) as u8);
                code!(cuMemsetD8_v2(address, value, number(3) as usize)).to_string()
            }
            "synchronize" => code!(cuCtxSynchronize()).to_string(),
            "races" => {
                let report = cuda_sim::report();
                let races = report.count(cuda_sim::FindingKind::Race);
                format!("{races} {}", report.to_string().replace('\n', " "))
            }
            "alloc" => alloc(number(1) as usize).0.to_string(),
            "free" => code!(cuMemFree_v2(CUdeviceptr(number(1)))).to_string(),
            "handle" => {
                let (answer, handle) = handle_of(CUdeviceptr(number(1)));
                format!("{answer} {}", hex(&handle))
            }
            "range" => {
                let (mut base, mut size) = (CUdeviceptr(0), 0);
                let address = CUdeviceptr(number(1));
                let answer = code!(cuMemGetAddressRange_v2(&mut base, &mut size, address));
                format!("{answer} {} {size}", base.0)
            }
            "capable" => {
                let mut value = 9_u64;
                let out: *mut u64 = &mut value;
                let attribute =
                    CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
                ok!(cuPointerGetAttribute(out.cast(), attribute, CUdeviceptr(number(1))));
                (value & 0xff).to_string()
            }
            "event-open" => {
                let (answer, event) = open_event(unhex(words[1]));
                format!("{answer} {}", event.expose_provenance())
            }
            "event-handle" => {
                let mut handle = CUipcEventHandle::zeroed();
                code!(cuIpcGetEventHandle(&mut handle, as_event(number(1)))).to_string()
            }
            "event-query" => code!(cuEventQuery(as_event(number(1)))).to_string(),
            "event-synchronize" => code!(cuEventSynchronize(as_event(number(1)))).to_string(),
            "event-record" => code!(cuEventRecord(as_event(number(1)), LEGACY)).to_string(),
            "event-wait" => code!(cuStreamWaitEvent(LEGACY, as_event(number(1)), 0)).to_string(),
            "event-destroy" => code!(cuEventDestroy_v2(as_event(number(1)))).to_string(),
            "event-record-behind-work" => {
                let (event, handle) = shared_event();
                format!("{} {}", record_behind_work(event, number(1)), hex(&handle))
            }
            "imported-record-behind-work" => {
                let (answer, event) = open_event(unhex(words[1]));
                assert_eq!(answer, 0);
                record_behind_work(event, number(2)).to_string()
            }
            "stream-query" => code!(cuStreamQuery(LEGACY)).to_string(),
            "event-elapsed" => {
                let (mut time, event) = (0.0, as_event(number(1)));
                code!(cuEventElapsedTime(&mut time, event, event)).to_string()
            }
            "end" => {
                writeln!(replies, "0").unwrap();
                end();
                return;
            }
            _ => panic!("{order}"),
        };
        writeln!(replies, "{reply}").unwrap();
    }
}

/// Runs a body beside a second process that serves it.
macro_rules! two_processes {
    ($body:expr) => {
        two_processes!(Config::new(), $body)
    };
    ($config:expr, $body:expr) => {
        isolated!($config).unchecked().run(|| {
            let body: fn() = $body;
            if cuda_sim::role().is_some() { serve() } else { body() }
        })
    };
}

pub(crate) use two_processes;
