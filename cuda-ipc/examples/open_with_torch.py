"""Opens what `share_image --run` shares in PyTorch, and compares it with the picture.

The argument is a descriptor of version 1 in hexadecimal digits; the format is documented in
`cuda-ipc/src/wire.rs`. PyTorch takes the bare 64-byte handle, the allocation's size, and an offset.
"""

import struct
import sys

import torch

FIXED = struct.Struct("<8sHHIII16sQQ16sQ16sQQBBHHHH6s64s")
DTYPES = {(1, 8): torch.uint8, (0, 32): torch.int32, (2, 32): torch.float32}


def decode(descriptor):
    fields = FIXED.unpack_from(descriptor)
    magic, version, length = fields[0], fields[1], fields[3]
    assert (magic, version, length) == (b"CUDA-IPC", 1, len(descriptor))
    size, offset, code, bits, lanes, ndim, kind, _, _, handle = fields[12:]
    assert (lanes, kind) == (1, 1), "a legacy handle of scalars"
    axes = struct.unpack_from(f"<{2 * ndim}q", descriptor, FIXED.size)
    return handle, size, offset, DTYPES[code, bits], axes[:ndim], axes[ndim:]


def picture(height, width):
    row = torch.arange(height).view(-1, 1).expand(height, width)
    column = torch.arange(width).expand(height, width)
    x, y = (column - width // 2).abs(), (row - height // 2).abs()
    ring = (x * x + y * y) // 64 % 256
    channels = [255 * column // width, ring, 255 * row // height]
    return torch.stack(channels, 2).to(torch.uint8)


handle, size, offset, dtype, shape, strides = decode(bytes.fromhex(sys.argv[1]))
torch.cuda.init()
# No reference counter and no event: the lease says until when the memory is there.
storage = torch.UntypedStorage._new_shared_cuda(0, handle, size, 0, b"/none", 0, bytes(64), False)
item = dtype.itemsize
tensor = torch.empty(0, dtype=dtype, device="cuda").set_(
    storage, offset // item, shape, [stride // item for stride in strides]
)
same = torch.equal(tensor.cpu(), picture(*shape[:2]))
print(f"PyTorch {torch.__version__}: {tuple(shape)} with strides {strides}, same bytes: {same}")
sys.exit(0 if same else 1)
