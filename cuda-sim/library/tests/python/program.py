"""Uses the driver by NVIDIA's own Python binding, as a program that knows of no simulator does.

With an argument it is the second process: it opens the memory of that handle and writes its sum.
"""

import ctypes
import subprocess
import sys

from cuda.bindings import driver

BYTES = 4096
HANDLE = 64


def call(answer):
    """Returns what a call gives beside its status, which must be success."""
    status, *values = answer
    if status != driver.CUresult.CUDA_SUCCESS:
        _, name = driver.cuGetErrorName(status)
        raise RuntimeError(f"the driver answers {name}")
    return values[0] if len(values) == 1 else tuple(values)


def refused(answer, status):
    """Checks that a call is refused with that status."""
    assert answer[0] == status, answer


def retain_context():
    """Initialises, and makes the primary context of the first device current."""
    call(driver.cuInit(0))
    assert call(driver.cuDeviceGetCount()) >= 1
    device = call(driver.cuDeviceGet(0))
    assert call(driver.cuDeviceGetName(64, device)).strip(b"\0 ")
    assert any(call(driver.cuDeviceGetUuid(device)).bytes)
    major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    assert call(driver.cuDeviceGetAttribute(major, device)) >= 5
    context = call(driver.cuDevicePrimaryCtxRetain(device))
    call(driver.cuCtxSetCurrent(context))
    assert int(call(driver.cuCtxGetCurrent())) == int(context)
    return device, context


def own_context(device):
    """Makes a context beside the primary one, and goes back."""
    before = call(driver.cuCtxGetCurrent())
    context = call(driver.cuCtxCreate(None, 0, device))
    assert int(call(driver.cuCtxGetCurrent())) == int(context)
    assert int(call(driver.cuCtxGetDevice())) == int(device)
    call(driver.cuMemFree(call(driver.cuMemAlloc(BYTES))))
    call(driver.cuCtxDestroy(context))
    assert int(call(driver.cuCtxGetCurrent())) == int(before)


def copies():
    """Copies to the device, on it and back; memory is set; ranges are checked."""
    first, second = call(driver.cuMemAlloc(BYTES)), call(driver.cuMemAlloc(BYTES))
    source = bytes(i * 7 % 251 for i in range(BYTES))
    target = bytearray(BYTES)
    view = (ctypes.c_ubyte * BYTES).from_buffer(target)
    call(driver.cuMemcpyHtoD(first, source, BYTES))
    call(driver.cuMemcpyDtoD(second, first, BYTES))
    call(driver.cuMemcpyDtoH(ctypes.addressof(view), second, BYTES))
    assert target == source
    call(driver.cuMemsetD8(second, 0x5A, BYTES // 2))
    call(driver.cuMemcpyDtoH(ctypes.addressof(view), second, BYTES))
    assert target == b"\x5a" * (BYTES // 2) + source[BYTES // 2 :]
    base, size = call(driver.cuMemGetAddressRange(driver.CUdeviceptr(int(second) + 100)))
    assert (int(base), size) == (int(second), BYTES)
    beyond = driver.cuMemcpyDtoH(ctypes.addressof(view), driver.CUdeviceptr(int(second) + 1), BYTES)
    refused(beyond, driver.CUresult.CUDA_ERROR_INVALID_VALUE)
    call(driver.cuMemFree(first))
    call(driver.cuMemFree(second))


def streams_and_events():
    """Orders two streams by an event, and measures the time between two."""
    one, two = call(driver.cuStreamCreate(1)), call(driver.cuStreamCreate(1))
    begin, done = call(driver.cuEventCreate(0)), call(driver.cuEventCreate(0))
    memory = call(driver.cuMemAlloc(BYTES))
    pinned = call(driver.cuMemHostAlloc(BYTES, 0))
    host = (ctypes.c_ubyte * BYTES).from_address(int(pinned))
    call(driver.cuEventRecord(begin, one))
    call(driver.cuMemsetD32Async(memory, 0x01020304, BYTES // 4, one))
    call(driver.cuEventRecord(done, one))
    call(driver.cuStreamWaitEvent(two, done, 0))
    call(driver.cuMemcpyDtoHAsync(pinned, memory, BYTES, two))
    call(driver.cuStreamSynchronize(two))
    assert bytes(host) == b"\x04\x03\x02\x01" * (BYTES // 4)
    assert driver.cuStreamQuery(two)[0] == driver.CUresult.CUDA_SUCCESS
    call(driver.cuEventSynchronize(done))
    assert call(driver.cuEventElapsedTime(begin, done)) >= 0
    call(driver.cuCtxSynchronize())
    call(driver.cuMemFreeHost(pinned))
    call(driver.cuMemFree(memory))
    for event in (begin, done):
        call(driver.cuEventDestroy(event))
    for stream in (one, two):
        call(driver.cuStreamDestroy(stream))


def pointer_attributes(context):
    """Asks for one attribute of a pointer, and for several at once."""
    attribute = driver.CUpointer_attribute
    memory = call(driver.cuMemAlloc(BYTES))
    kind = call(driver.cuPointerGetAttribute(attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory))
    assert driver.CUmemorytype(kind) == driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    asked = [
        attribute.CU_POINTER_ATTRIBUTE_CONTEXT,
        attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID,
    ]
    owner, ordinal, identity = call(driver.cuPointerGetAttributes(len(asked), asked, memory))
    assert int(owner) == int(context)
    assert ordinal == 0
    assert identity > 0
    call(driver.cuMemFree(memory))


def exported_memory():
    """Lets a second process read memory by its handle."""
    memory = call(driver.cuMemAlloc(BYTES))
    source = bytes(i % 100 for i in range(BYTES))
    call(driver.cuMemcpyHtoD(memory, source, BYTES))
    call(driver.cuCtxSynchronize())
    handle = call(driver.cuIpcGetMemHandle(memory))
    # Not in the process that it is of.
    same = driver.cuIpcOpenMemHandle(handle, 1)
    refused(same, driver.CUresult.CUDA_ERROR_INVALID_CONTEXT)
    second = subprocess.run(
        [sys.executable, __file__, ctypes.string_at(handle.getPtr(), HANDLE).hex()], stdout=subprocess.PIPE, check=True
    )
    assert int(second.stdout) == sum(source)
    call(driver.cuMemFree(memory))


def imported_sum(text):
    """Opens the memory of a handle and returns the sum of its bytes."""
    handle = driver.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), bytes.fromhex(text), HANDLE)
    memory = call(driver.cuIpcOpenMemHandle(handle, 1))
    target = bytearray(BYTES)
    view = (ctypes.c_ubyte * BYTES).from_buffer(target)
    call(driver.cuMemcpyDtoH(ctypes.addressof(view), memory, BYTES))
    call(driver.cuIpcCloseMemHandle(memory))
    return sum(target)


def main():
    device, context = retain_context()
    if len(sys.argv) > 1:
        print(imported_sum(sys.argv[1]))
    else:
        own_context(device)
        copies()
        streams_and_events()
        pointer_attributes(context)
        exported_memory()
        print("cuda-bindings: all well")
    call(driver.cuDevicePrimaryCtxRelease(device))


main()
