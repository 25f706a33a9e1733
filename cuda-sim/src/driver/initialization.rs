//! Initialisation, version, error texts, and symbols by name.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cuda_sys::{CUdriverProcAddressQueryResult, CUresult, CUuuid, Version, cuuint64_t};

use crate::entry::{INVALID_VALUE, In, Out, simulate};
use crate::table;

/// Is what a driver says of each code: its name and a sentence.
struct Texts {
    name: CString,
    sentence: CString,
}

/// Returns the texts of a code; none if no header has it.
fn texts(code: CUresult) -> Option<&'static Texts> {
    static ALL: OnceLock<HashMap<u32, Texts>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let constants = CUresult::CONSTANTS.iter();
        constants
            .map(|&(name, code)| {
                (code, Texts { name: text(name), sentence: text(&sentence(name)) })
            })
            .collect()
    });
    all.get(&code.0)
}

/// Makes a sentence of a code's name; the common ones have the driver's own (*manual*).
fn sentence(name: &str) -> String {
    match name {
        "CUDA_SUCCESS" => "no error".to_owned(),
        "CUDA_ERROR_INVALID_VALUE" => "invalid argument".to_owned(),
        "CUDA_ERROR_OUT_OF_MEMORY" => "out of memory".to_owned(),
        "CUDA_ERROR_NOT_INITIALIZED" => "initialization error".to_owned(),
        "CUDA_ERROR_NO_DEVICE" => "no CUDA-capable device is detected".to_owned(),
        "CUDA_ERROR_INVALID_DEVICE" => "invalid device ordinal".to_owned(),
        "CUDA_ERROR_INVALID_CONTEXT" => "invalid device context".to_owned(),
        "CUDA_ERROR_INVALID_HANDLE" => "invalid resource handle".to_owned(),
        "CUDA_ERROR_NOT_READY" => "device not ready".to_owned(),
        "CUDA_ERROR_CONTEXT_IS_DESTROYED" => "context is destroyed".to_owned(),
        "CUDA_ERROR_LAUNCH_FAILED" => "unspecified launch failure".to_owned(),
        "CUDA_ERROR_NOT_PERMITTED" => "operation not permitted".to_owned(),
        "CUDA_ERROR_NOT_SUPPORTED" => "operation not supported".to_owned(),
        "CUDA_ERROR_UNKNOWN" => "unknown error".to_owned(),
        _ => name.trim_start_matches("CUDA_ERROR_").replace('_', " ").to_lowercase(),
    }
}

/// Writes a text of a code, or null and an error for an unknown one (*manual*).
fn write_text(
    code: CUresult,
    out: &Out<*const c_char>,
    text: impl Fn(&'static Texts) -> &'static CString,
) -> Result<(), CUresult> {
    out.required()?;
    match texts(code) {
        Some(texts) => {
            out.write(text(texts).as_ptr());
            Ok(())
        }
        None => {
            out.write(std::ptr::null());
            Err(INVALID_VALUE)
        }
    }
}

/// Is what a lookup by a name without a version suffix finds.
enum Found {
    Function(*mut c_void),
    TooNew,
    Unknown,
}

/// Finds the newest variant of a function that a program of `wanted` knows (*manual*).
fn find(name: &str, wanted: Version, driver: Version, per_thread: bool) -> Found {
    let mut best: Option<(u32, &str)> = None;
    let mut exists = false;
    for symbol in cuda_sys::SYMBOLS {
        let Ok(full) = symbol.name.to_str() else { continue };
        let Some(rest) = full.strip_prefix(name) else { continue };
        let (rest, twin) = match rest.strip_suffix("_ptsz").or_else(|| rest.strip_suffix("_ptds")) {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let number = match rest.strip_prefix("_v") {
            Some(number) => number.parse().ok(),
            None if rest.is_empty() => Some(1),
            None => None,
        };
        let Some(number) = number else { continue };
        if twin && !per_thread || symbol.since > driver {
            continue;
        }
        exists = true;
        // A twin for per-thread streams stands before the function of the same version.
        let rank = 2 * number + u32::from(twin);
        if symbol.since <= wanted && best.is_none_or(|(other, _)| other < rank) {
            best = Some((rank, full));
        }
    }
    match best.and_then(|(_, full)| table::symbol(full, driver)) {
        Some(function) => Found::Function(function.as_ptr()),
        None if exists => Found::TooNew,
        None => Found::Unknown,
    }
}

fn lookup(
    name: &In<c_char>,
    version: c_int,
    flags: u64,
    driver: Version,
) -> Result<Found, CUresult> {
    let name = name.text()?;
    let wanted = u32::try_from(version).map_err(|_| INVALID_VALUE)?;
    // 1 asks for legacy, 2 for per-thread streams.
    if flags > 2 {
        return Err(INVALID_VALUE);
    }
    Ok(find(&name, Version::from_number(wanted), driver, flags == 2))
}

simulate! {
    /// Initialises the driver.
    fn cuInit(flags: val c_uint) |mut session| {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if session.config.initialization != CUresult::CUDA_SUCCESS {
            return Err(session.config.initialization);
        }
        if session.devices.is_empty() {
            return Err(CUresult::CUDA_ERROR_NO_DEVICE);
        }
        session.initialized = true;
        Ok(())
    }

    /// Tells the configured version.
    fn cuDriverGetVersion(version: out c_int) |session| {
        version.required()?;
        version.write(c_int::try_from(session.config.version.number()).unwrap_or(c_int::MAX));
        Ok(())
    }

    /// Tells the name of a code.
    fn cuGetErrorName(error: val CUresult, text: out *const c_char) |_session| {
        write_text(error, &text, |texts| &texts.name)
    }

    /// Tells a sentence for a code.
    fn cuGetErrorString(error: val CUresult, text: out *const c_char) |_session| {
        write_text(error, &text, |texts| &texts.sentence)
    }

    /// Finds a function by its name without a version suffix.
    fn cuGetProcAddress(
        symbol: into c_char, function: out *mut c_void, version: val c_int, flags: val cuuint64_t,
    ) |session| {
        function.required()?;
        match lookup(&symbol, version, flags, session.config.version)? {
            Found::Function(found) => {
                function.write(found);
                Ok(())
            }
            Found::TooNew | Found::Unknown => {
                function.write(std::ptr::null_mut());
                Err(CUresult::CUDA_ERROR_NOT_FOUND)
            }
        }
    }

    /// Finds a function by its name without a version suffix, and says why there is none.
    fn cuGetProcAddress_v2(
        symbol: into c_char, function: out *mut c_void, version: val c_int, flags: val cuuint64_t,
        status: out CUdriverProcAddressQueryResult,
    ) |session| {
        function.required()?;
        let (found, answer) = match lookup(&symbol, version, flags, session.config.version)? {
            Found::Function(found) => {
                (found, CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS)
            }
            Found::TooNew => (
                std::ptr::null_mut(),
                CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
            ),
            Found::Unknown => (
                std::ptr::null_mut(),
                CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
            ),
        };
        function.write(found);
        status.write(answer);
        if found.is_null() && status.is_null() {
            return Err(CUresult::CUDA_ERROR_NOT_FOUND);
        }
        Ok(())
    }

    /// Finds no table: what programs on the CUDA runtime ask for is not simulated.
    fn cuGetExportTable(table: out *const c_void, id: into CUuuid) |_session| {
        let _ = &id;
        table.write(std::ptr::null());
        Err(CUresult::CUDA_ERROR_NOT_FOUND)
    }
}
