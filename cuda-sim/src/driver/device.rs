//! Devices: how many, their names, identities and attributes.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_int};

use cuda_sys::{CUdevice, CUdevice_attribute, CUresult, CUuuid};

use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, Out, simulate};

const NAME: &[u8] = b"Simulated CUDA device";

/// Returns the devices that the process sees, as the driver reads `CUDA_VISIBLE_DEVICES`: ordinals
/// or identities, up to the first that names none (*manual*).
pub(crate) fn visible(devices: usize) -> Vec<usize> {
    let all = || (0..devices).collect();
    let Ok(list) = std::env::var("CUDA_VISIBLE_DEVICES") else { return all() };
    let mut seen = Vec::new();
    for part in list.split(',').map(str::trim) {
        let named = part.parse().ok().or_else(|| {
            let identity = part.strip_prefix("GPU-")?;
            (0..devices).find(|&device| text(&uuid(device)).starts_with(identity))
        });
        match named.filter(|&device| device < devices) {
            // Named twice, it is none at all.
            Some(device) if seen.contains(&device) => return Vec::new(),
            Some(device) => seen.push(device),
            None => break,
        }
    }
    seen
}

/// Returns a device's identity: the same in every process.
pub(crate) fn uuid(device: usize) -> [u8; 16] {
    let mut bytes = *b"cuda-sim\x40\x00\x80\x00\x00\x00\x00\x00";
    for (byte, number) in
        bytes.iter_mut().skip(12).zip((device as u64 + 1).to_be_bytes().iter().skip(4))
    {
        *byte = *number;
    }
    bytes
}

fn text(uuid: &[u8; 16]) -> String {
    let mut text = String::new();
    for (position, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&position) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl State {
    /// Returns the index of a device.
    pub(crate) fn device(&self, device: CUdevice) -> Result<usize, CUresult> {
        usize::try_from(device.0)
            .ok()
            .filter(|&device| device < self.devices.len())
            .ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
    }

    fn write_uuid(&self, out: &Out<CUuuid>, device: CUdevice) -> Result<(), CUresult> {
        let device = self.device(device)?;
        out.required()?;
        let physical = self.physical(device);
        let mut bytes = [0; 16];
        for (target, source) in bytes.iter_mut().zip(uuid(physical)) {
            *target = c_char::from_ne_bytes([source]);
        }
        out.write(CUuuid { bytes });
        Ok(())
    }
}

simulate! {
    /// Returns a device of an ordinal.
    fn cuDeviceGet(device: out CUdevice, ordinal: val c_int) |session| {
        device.required()?;
        session.device(CUdevice(ordinal))?;
        device.write(CUdevice(ordinal));
        Ok(())
    }

    /// Tells how many devices the process sees.
    fn cuDeviceGetCount(count: out c_int) |session| {
        count.required()?;
        count.write(c_int::try_from(session.devices.len()).unwrap_or(c_int::MAX));
        Ok(())
    }

    /// Writes the name, cut to the length that is asked for.
    fn cuDeviceGetName(name: out c_char, length: val c_int, device: val CUdevice) |session| {
        session.device(device)?;
        write_text(&name, length, NAME)
    }

    /// Writes the identity.
    fn cuDeviceGetUuid(uuid: out CUuuid, device: val CUdevice) |session| {
        session.write_uuid(&uuid, device)
    }

    /// Writes the identity.
    fn cuDeviceGetUuid_v2(uuid: out CUuuid, device: val CUdevice) |session| {
        session.write_uuid(&uuid, device)
    }

    /// Tells how much memory a device has.
    fn cuDeviceTotalMem_v2(bytes: out usize, device: val CUdevice) |session| {
        session.device(device)?;
        bytes.required()?;
        bytes.write(usize::try_from(session.config.memory).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Tells an attribute.
    fn cuDeviceGetAttribute(
        value: out c_int, attribute: val CUdevice_attribute, device: val CUdevice,
    ) |session| {
        value.required()?;
        let device = session.device(device)?;
        value.write(session.device_attribute(attribute, device).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Tells whether a device can reach another's memory.
    fn cuDeviceCanAccessPeer(
        answer: out c_int, device: val CUdevice, peer: val CUdevice,
    ) |session| {
        answer.required()?;
        let [device, peer] = [session.device(device)?, session.device(peer)?];
        let [device, peer] = [session.physical(device), session.physical(peer)];
        answer.write(c_int::from(session.config.can_reach(device, peer)));
        Ok(())
    }

    /// Writes where on the bus a device is.
    fn cuDeviceGetPCIBusId(text: out c_char, length: val c_int, device: val CUdevice) |session| {
        let device = session.device(device)?;
        let physical = session.physical(device);
        write_text(&text, length, format!("0000:00:{physical:02X}.0").as_bytes())
    }
}

/// Writes a text with the zero byte behind it, cut to fit.
fn write_text(out: &Out<c_char>, length: c_int, text: &[u8]) -> Result<(), CUresult> {
    out.required()?;
    let room = usize::try_from(length).ok().and_then(|length| length.checked_sub(1));
    let room = room.ok_or(INVALID_VALUE)?;
    let mut end = 0;
    for (position, &byte) in text.iter().take(room).enumerate() {
        out.write_at(position, c_char::from_ne_bytes([byte]));
        end = position + 1;
    }
    out.write_at(end, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{text, uuid};

    #[test]
    fn identities_differ_and_stay() {
        assert_ne!(uuid(0), uuid(1));
        assert_eq!(text(&uuid(0)), "63756461-2d73-696d-4000-800000000001");
    }
}
