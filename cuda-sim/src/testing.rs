//! What tests use: processes of their own, and devices in the place of the simulator.

pub(crate) mod device_run;
pub(crate) mod isolated;
