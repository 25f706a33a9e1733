//! What tests use: processes of their own, a run's scheduler, and devices in the place of the simulator.

pub(crate) mod device_run;
pub(crate) mod isolated;
pub(crate) mod run_scheduler;
