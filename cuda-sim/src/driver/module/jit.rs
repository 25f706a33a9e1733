//! The options of the compiler of PTX: logs and the time that it took. The others are accepted, and
//! change nothing, as nothing is compiled.

use std::ffi::{c_char, c_uint, c_void};
use std::time::Instant;

use cuda_sys::{CUjit_option, CUresult};

use crate::engine::binary::{Image, ImageError};
use crate::entry::{INVALID_VALUE, Out};

/// Is a log that a call asks for. Addresses are kept as numbers: a linker's state has its options
/// until it is complete.
#[derive(Debug, Default)]
struct Log {
    buffer: Option<usize>,
    size: usize,
    /// Which option's value the size is.
    place: Option<usize>,
}

/// Is what a call asks of the compiler.
#[derive(Debug)]
pub(crate) struct JitOptions {
    values: usize,
    info: Log,
    error: Log,
    /// Which option's value is the time that it took.
    time: Option<usize>,
    begin: Instant,
}

impl JitOptions {
    /// Reads options.
    pub(crate) fn read(
        count: c_uint,
        options: &Out<CUjit_option>,
        values: &Out<*mut c_void>,
    ) -> Result<Self, CUresult> {
        use CUjit_option as O;
        let (info, error) = (Log::default(), Log::default());
        let address = values.pointer().expose_provenance();
        let mut read = Self { values: address, info, error, time: None, begin: Instant::now() };
        for index in 0..usize::try_from(count).map_err(|_| INVALID_VALUE)? {
            let (option, value) = (options.read_at(index)?, values.read_at(index)?);
            // Sizes are 32 bits of the value (manual).
            let size = value.addr() & 0xffff_ffff;
            match option {
                O::CU_JIT_INFO_LOG_BUFFER => read.info.buffer = Some(value.expose_provenance()),
                O::CU_JIT_ERROR_LOG_BUFFER => read.error.buffer = Some(value.expose_provenance()),
                O::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    (read.info.size, read.info.place) = (size, Some(index));
                }
                O::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    (read.error.size, read.error.place) = (size, Some(index));
                }
                O::CU_JIT_WALL_TIME => read.time = Some(index),
                _ if O::CONSTANTS.iter().any(|&(_, known)| known == option.0) => {}
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(read)
    }

    /// Makes the options of a call that has none.
    pub(crate) fn none() -> Self {
        let (info, error) = (Log::default(), Log::default());
        Self { values: 0, info, error, time: None, begin: Instant::now() }
    }

    /// Writes what became of an image into the logs, and returns it or its code.
    pub(crate) fn done(&self, image: Result<Image, ImageError>) -> Result<Image, CUresult> {
        let (info, error) = match &image {
            Ok(image) => {
                let (entries, variables) = (image.entries.len(), image.variables.len());
                (format!("info: {entries} kernels and {variables} variables"), String::new())
            }
            Err(error) => (String::new(), format!("error: {error}")),
        };
        self.write(&self.info, &info);
        self.write(&self.error, &error);
        if let Some(place) = self.time {
            let milliseconds = self.begin.elapsed().as_secs_f32() * 1000.0;
            let bits = usize::try_from(milliseconds.to_bits()).unwrap_or(0);
            self.value(place, std::ptr::without_provenance_mut(bits));
        }
        image.map_err(|error| code(&error))
    }

    /// Writes an option's value.
    fn value(&self, place: usize, value: *mut c_void) {
        at(self.values).write_at(place, value);
    }

    /// Writes a text with its zero, cut to fit, and how many bytes it is.
    fn write(&self, log: &Log, text: &str) {
        let mut written = 0;
        if let (Some(buffer), Some(room)) = (log.buffer, log.size.checked_sub(1)) {
            let buffer: Out<c_char> = at(buffer);
            let text = text.as_bytes().get(..room).unwrap_or(text.as_bytes());
            for (position, &byte) in text.iter().enumerate() {
                buffer.write_at(position, c_char::from_ne_bytes([byte]));
            }
            buffer.write_at(text.len(), 0);
            written = text.len();
        }
        if let Some(place) = log.place {
            self.value(place, std::ptr::without_provenance_mut(written));
        }
    }
}

/// Returns what is at an address that a call gave.
fn at<T>(address: usize) -> Out<T> {
    Out::of_attribute(std::ptr::with_exposed_provenance_mut(address))
}

/// Returns the code of what is wrong with an image: measured, but for code of which none fits
/// (*manual*).
pub(crate) const fn code(error: &ImageError) -> CUresult {
    match error {
        ImageError::Unknown(_) => CUresult::CUDA_ERROR_INVALID_IMAGE,
        ImageError::Syntax { .. } | ImageError::Name(_) | ImageError::PtxTarget { .. } => {
            CUresult::CUDA_ERROR_INVALID_PTX
        }
        ImageError::Version { .. } => CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        ImageError::Target { .. } => CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
    }
}
