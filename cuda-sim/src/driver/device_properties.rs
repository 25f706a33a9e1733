//! What devices are, as older and rarer calls ask it. All answers are manual.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_int, c_uint};

use cuda_sys::{
    CUarray_format, CUdevice, CUdevice_attribute, CUdevprop, CUexecAffinityType,
    CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUresult,
};

use crate::engine::image::format;
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, simulate};

impl State {
    fn value(&self, attribute: CUdevice_attribute, device: usize) -> c_int {
        self.device_attribute(attribute, device).unwrap_or(0)
    }

    fn properties_of(&self, device: usize) -> CUdevprop {
        use CUdevice_attribute as A;
        let value = |attribute| self.value(attribute, device);
        CUdevprop {
            maxThreadsPerBlock: value(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            maxThreadsDim: [
                value(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                value(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                value(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
            ],
            maxGridSize: [
                value(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                value(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                value(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
            ],
            sharedMemPerBlock: value(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            totalConstantMemory: value(A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            SIMDWidth: value(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            memPitch: value(A::CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            regsPerBlock: value(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            clockRate: value(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            textureAlign: value(A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        }
    }
}

/// Reads the address of a device on the bus: `[domain:]bus:device[.function]`, in hexadecimal.
fn parse_bus_address(text: &str) -> Option<[u32; 4]> {
    let (place, function) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts: Vec<&str> = place.split(':').collect();
    if parts.len() == 2 {
        parts.insert(0, "0");
    }
    parts.push(function);
    let numbers: Option<Vec<u32>> =
        parts.iter().map(|part| u32::from_str_radix(part, 16).ok()).collect();
    numbers?.try_into().ok()
}

simulate! {
    /// Returns the device at an address on the bus.
    fn cuDeviceGetByPCIBusId(device: out CUdevice, address: into c_char) |session| {
        device.required()?;
        let [domain, bus, place, function] =
            parse_bus_address(&address.text()?).ok_or(INVALID_VALUE)?;
        let found = (0..session.devices.len())
            .find(|&index| u32::try_from(session.physical(index)) == Ok(place))
            .filter(|_| domain == 0 && bus == 0 && function == 0)
            .ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        device.write(CUdevice(c_int::try_from(found).unwrap_or(0)));
        Ok(())
    }

    /// Tells a device's compute capability.
    fn cuDeviceComputeCapability(
        major: out c_int, minor: out c_int, device: val CUdevice,
    ) |session| {
        use CUdevice_attribute as A;
        major.required()?;
        minor.required()?;
        let device = session.device(device)?;
        major.write(session.value(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
        minor.write(session.value(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
        Ok(())
    }

    /// Tells the attributes that devices had at first.
    fn cuDeviceGetProperties(properties: out CUdevprop, device: val CUdevice) |session| {
        properties.required()?;
        let device = session.device(device)?;
        properties.write(session.properties_of(device));
        Ok(())
    }

    /// Tells how much memory a device has, up to 4 GiB less a byte.
    fn cuDeviceTotalMem(bytes: out c_uint, device: val CUdevice) |session| {
        session.device(device)?;
        bytes.required()?;
        bytes.write(c_uint::try_from(session.config.memory).unwrap_or(c_uint::MAX));
        Ok(())
    }

    /// Tells that contexts cannot be bound to a number of multiprocessors.
    fn cuDeviceGetExecAffinitySupport(
        answer: out c_int, kind: val CUexecAffinityType, device: val CUdevice,
    ) |session| {
        answer.required()?;
        session.device(device)?;
        if kind != CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT {
            return Err(INVALID_VALUE);
        }
        answer.write(0);
        Ok(())
    }

    /// Tells the most elements of a texture of linear memory.
    fn cuDeviceGetTexture1DLinearMaxWidth(
        width: out usize, format: val CUarray_format, channels: val c_uint, device: val CUdevice,
    ) |session| {
        width.required()?;
        session.device(device)?;
        format::element(format, channels)?;
        width.write(1 << 28);
        Ok(())
    }

    /// Refuses: no other device writes memory of these.
    fn cuFlushGPUDirectRDMAWrites(
        target: val CUflushGPUDirectRDMAWritesTarget, scope: val CUflushGPUDirectRDMAWritesScope,
    ) |session| {
        session.context()?;
        let to_known = scope == CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER
            || scope == CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES;
        let of_context = CUflushGPUDirectRDMAWritesTarget::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        if target != of_context || !to_known {
            return Err(INVALID_VALUE);
        }
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
}

#[cfg(test)]
mod tests {
    use super::parse_bus_address;

    #[test]
    fn addresses_on_the_bus_have_two_to_four_parts() {
        assert_eq!(parse_bus_address("0000:00:0A.0"), Some([0, 0, 10, 0]));
        assert_eq!(parse_bus_address("00:0a"), Some([0, 0, 10, 0]));
        assert_eq!(parse_bus_address("1:2:3.1"), Some([1, 2, 3, 1]));
        for text in ["", "12", "0:0:0:0", "x:1", "1:2.3.4"] {
            assert_eq!(parse_bus_address(text), None, "{text}");
        }
    }
}
