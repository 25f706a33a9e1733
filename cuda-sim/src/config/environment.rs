//! A configuration as text, so that a second process gets the same one.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

use cuda_sys::{CUresult, Version};

use super::{Config, Failure, Feature, Scheduler};

/// Is the environment variable that carries a configuration to a second process.
pub const ENVIRONMENT: &str = "CUDA_SIM";

/// Is a text that is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfig {
    /// The part that could not be read.
    pub part: String,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no part of a simulator's configuration", self.part)
    }
}

impl Error for InvalidConfig {}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eager => f.write_str("eager"),
            Self::Lazy => f.write_str("lazy"),
            Self::Seeded(seed) => write!(f, "seeded:{seed}"),
        }
    }
}

impl Scheduler {
    /// Reads `eager`, `lazy`, or `seeded:` and a number.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "eager" => Some(Self::Eager),
            None if text == "lazy" => Some(Self::Lazy),
            Some(("seeded", seed)) => seed.parse().ok().map(Self::Seeded),
            _ => None,
        }
    }
}

impl Config {
    /// Writes the configuration as text, for [`from_text`](Self::from_text).
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "devices={};memory={};reservation={};version={};initialization={};log={};call_sites={};reports={};junk={};\
             protect_pages={};host_function_patience_us={}",
            self.devices,
            self.memory,
            self.reservation,
            self.version.number(),
            self.initialization.0,
            self.log,
            self.call_sites,
            self.reports,
            self.junk,
            self.protect_pages,
            self.host_function_patience.as_micros(),
        );
        if let Some(scheduler) = self.scheduler {
            // Writing to a string does not fail.
            let _ = write!(text, ";scheduler={scheduler}");
        }
        let limits = [
            ("out_of_memory_at", self.out_of_memory_at),
            ("host_out_of_memory_at", self.host_out_of_memory_at),
        ];
        for (key, bytes) in limits {
            if let Some(bytes) = bytes {
                // Writing to a string does not fail.
                let _ = write!(text, ";{key}={bytes}");
            }
        }
        for (device, feature) in &self.lacking {
            let name = feature.name();
            // Writing to a string does not fail.
            let _ = match device {
                Some(device) => write!(text, ";without={device}:{name}"),
                None => write!(text, ";without={name}"),
            };
        }
        for (device, other) in &self.unreachable {
            let _ = write!(text, ";no_peer={device}:{other}");
        }
        for failure in &self.failures {
            let symbol = failure.symbol.as_deref().unwrap_or("*");
            let key = if failure.stays { "break" } else { "fail" };
            let _ = write!(text, ";{key}={symbol}:{}:{}", failure.nth, failure.code.0);
        }
        for (name, answer) in &self.kernels {
            let _ = write!(text, ";kernel={name}:{}", answer.0);
        }
        text
    }

    /// Reads what [`to_text`](Self::to_text) wrote. What is not named stays as in
    /// [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] names the part that could not be read.
    pub fn from_text(text: &str) -> Result<Self, InvalidConfig> {
        let mut config = Self::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            config.read(part).ok_or_else(|| InvalidConfig { part: part.to_owned() })?;
        }
        Ok(config)
    }

    /// Reads the configuration that the environment variable [`ENVIRONMENT`] carries, if it is set.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] names the part that could not be read.
    pub fn from_environment() -> Result<Option<Self>, InvalidConfig> {
        let Some(text) = std::env::var_os(ENVIRONMENT) else { return Ok(None) };
        match text.to_str() {
            Some(text) => Self::from_text(text).map(Some),
            None => Err(InvalidConfig { part: text.to_string_lossy().into_owned() }),
        }
    }

    fn read(&mut self, part: &str) -> Option<()> {
        let (key, value) = part.split_once('=')?;
        match key {
            "devices" => self.devices = value.parse().ok()?,
            "memory" => self.memory = value.parse().ok()?,
            "reservation" => self.reservation = value.parse().ok()?,
            "initialization" => self.initialization = CUresult(value.parse().ok()?),
            "version" => self.version = Version::from_number(value.parse().ok()?),
            "log" => self.log = value.parse().ok()?,
            "call_sites" => self.call_sites = value.parse().ok()?,
            "out_of_memory_at" => self.out_of_memory_at = Some(value.parse().ok()?),
            "host_out_of_memory_at" => self.host_out_of_memory_at = Some(value.parse().ok()?),
            "reports" => self.reports = value.parse().ok()?,
            "junk" => self.junk = value.parse().ok()?,
            "protect_pages" => self.protect_pages = value.parse().ok()?,
            "host_function_patience_us" => {
                self.host_function_patience = Duration::from_micros(value.parse().ok()?);
            }
            "scheduler" => self.scheduler = Some(Scheduler::from_text(value)?),
            "without" => {
                let (device, name) = match value.split_once(':') {
                    Some((device, name)) => (Some(device.parse().ok()?), name),
                    None => (None, value),
                };
                self.lacking.push((device, Feature::from_name(name)?));
            }
            "no_peer" => {
                let (device, other) = value.split_once(':')?;
                self.unreachable.push((device.parse().ok()?, other.parse().ok()?));
            }
            "kernel" => {
                let (name, answer) = value.rsplit_once(':')?;
                self.kernels.push((name.to_owned(), CUresult(answer.parse().ok()?)));
            }
            "fail" | "break" => {
                let mut parts = value.split(':');
                let symbol = parts.next()?;
                let nth = parts.next()?.parse().ok()?;
                let code = CUresult(parts.next()?.parse().ok()?);
                let symbol = (symbol != "*").then(|| symbol.to_owned());
                self.failures.push(Failure { symbol, nth, code, stays: key == "break" });
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CUresult, Config, Feature, Scheduler, Version};

    #[test]
    fn every_setting_survives_the_text() {
        let config = Config::new()
            .devices(3)
            .memory(1 << 20)
            .scheduler(Scheduler::Seeded(u64::MAX))
            .reservation(1 << 30)
            .version(Version::new(12, 4))
            .initialization(CUresult::CUDA_ERROR_SYSTEM_NOT_READY)
            .fail("cuMemAlloc_v2", 2, CUresult::CUDA_ERROR_OUT_OF_MEMORY)
            .break_context("cuLaunchKernel", 1, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS)
            .fail_any(9, CUresult::CUDA_ERROR_UNKNOWN)
            .log(true)
            .call_sites(true)
            .reports(false)
            .out_of_memory_at(1 << 40)
            .host_out_of_memory_at(0)
            .without(Feature::MemoryPools)
            .device_without(2, Feature::Ipc)
            .no_peer(0, 2)
            .kernel("*", CUresult::CUDA_SUCCESS)
            .protect_pages(true)
            .junk(false);
        assert_eq!(Config::from_text(&config.to_text()), Ok(config));
    }

    /// A test's peer must not take the default for its choice.
    #[test]
    fn what_was_not_set_survives_the_text() {
        assert_eq!(Config::from_text(&Config::new().to_text()), Ok(Config::new()));
        let eager = Config::new().scheduler(Scheduler::Eager);
        assert_ne!(eager, Config::new());
        assert_eq!(Config::from_text(&eager.to_text()), Ok(eager));
    }

    /// The README is what users of the shared library read.
    #[test]
    fn every_setting_stands_in_the_readme() {
        let code = CUresult::CUDA_ERROR_UNKNOWN;
        let config = Config::new().without(Feature::Ipc).no_peer(0, 1);
        let config = config.fail_any(1, code).break_context("cuInit", 1, code).kernel("k", code);
        let config = config.out_of_memory_at(1).host_out_of_memory_at(1);
        let config = config.scheduler(Scheduler::Eager);
        for part in config.to_text().split(';') {
            let (key, _) = part.split_once('=').unwrap();
            let start = format!("| `{key}=");
            assert!(include_str!("../../README.md").contains(&start), "{part}");
        }
    }

    #[test]
    fn an_unknown_part_is_named() {
        let error = Config::from_text("devices=1;colour=red").unwrap_err();
        assert_eq!(error.part, "colour=red");
        for part in ["devices=x", "scheduler=slow", "fail=cuInit:1", "log=1"] {
            assert_eq!(Config::from_text(part).unwrap_err().part, part);
        }
    }
}
