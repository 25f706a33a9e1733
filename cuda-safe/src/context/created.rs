//! Contexts that are made, beside the primary one of each device.

use super::{Context, Origin};
use crate::call;
use crate::device::Device;
use crate::error::{Error, Quantity, Result, Rule};

impl Context {
    /// Makes a context of one's own, beside the device's primary one: with its own memory, streams
    /// and errors. It is destroyed with the last that was made in it.
    ///
    /// Libraries on the CUDA *runtime* use the primary context and can't reach into this one; it
    /// costs a device some hundred MiB. So [`primary`](Self::primary) is what nearly everybody wants.
    ///
    /// ```
    /// use cuda_safe::{Context, Device, DeviceBuffer};
    ///
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// let device = Device::get(0)?;
    /// let context = Context::create(device)?;
    /// let buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
    /// assert_ne!(context, device.context()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuCtxCreate_v2`](crate::call::ctx_create_v2).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn create(device: Device) -> Result<Self> {
        let raw = call::ctx_create_v2(0, &device)?;
        let context = Self::make(device, raw, Origin::Created)?;
        // The driver has made it the thread's; under it lies the caller's.
        call::ctx_pop_current()?;
        Ok(context)
    }

    /// Tells whether it is its device's primary context.
    pub fn is_primary(&self) -> bool {
        self.0.origin == Origin::Primary
    }

    /// Refuses a context whose handle a thread must not keep, since it is gone with its end.
    pub(super) fn check_kept(&self) -> Result<()> {
        if self.is_primary() {
            return Ok(());
        }
        let (need, have) = (Quantity::Word("a primary context"), Quantity::Word("a created one"));
        Err(Error::refused("Context::make_current", "context", Rule::Primary, need, have))
    }
}
