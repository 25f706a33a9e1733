"""Asks NumPy for the answers to random layout cases, and prints a case a line.

    python cases.py SEED CASES

The form is that of cuda-safe/tests/data/layout-vectors.json. A layout is an array over one buffer;
where NumPy's answer begins in that buffer is its byte offset. Left out is what layouts define
otherwise than NumPy does: entries below -1 in a reshape, and windows of no element. Where neither
item size divides the other, layouts refuse, whatever NumPy makes of the bytes of the whole axis.
"""

import json
import math
import random
import sys

import numpy as np

BUFFER = np.zeros(1 << 16, np.uint8)
BASE = BUFFER.__array_interface__["data"][0]
ITEM_SIZES = [1, 1, 2, 3, 4, 5, 8, 12, 16]


def layout_of(array):
    """Returns an array as a layout."""
    return {
        "shape": list(array.shape),
        "strides_bytes": list(array.strides),
        "itemsize": array.itemsize,
        "offset_bytes": array.__array_interface__["data"][0] - BASE if array.size else 0,
    }


def bounds(shape, strides):
    """Returns the lowest and the highest offset of an element, from that of the first."""
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(min(reach, 0) for reach in reaches), sum(max(reach, 0) for reach in reaches)


def random_strides(rng, shape, item_size):
    """Returns strides of a kind that occurs: dense, padded, permuted, stepped, flipped, repeated."""
    order = list(range(len(shape)))
    if rng.random() < 0.4:
        rng.shuffle(order)
    strides = [0] * len(shape)
    step = item_size
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
        if rng.random() < 0.2:
            step += rng.choice([1, item_size, 2 * item_size, 7])
    for axis in order:
        chance = rng.random()
        if chance < 0.15:
            strides[axis] = -strides[axis]
        elif chance < 0.22:
            strides[axis] = 0
        elif chance < 0.30:
            strides[axis] *= rng.randint(2, 3)
        elif chance < 0.35:
            strides[axis] = rng.randint(-40, 40)
    return strides


def random_array(rng, least=0, most=5):
    """Returns a random array over the buffer."""
    while True:
        ndim = rng.randint(least, most)
        extents = [0] + [1] * 4 + [2, 3, 4, 5, 6] * 3
        shape = [rng.choice(extents) for _ in range(ndim)]
        item_size = rng.choice(ITEM_SIZES)
        strides = random_strides(rng, shape, item_size)
        empty = 0 in shape
        low, high = (0, 0) if empty else bounds(shape, strides)
        offset = -low + rng.choice([0, 0, 1, item_size, 48])
        if offset + high + item_size <= BUFFER.nbytes:
            return np.ndarray(shape, f"V{item_size}", BUFFER, offset, strides)


def sliced(rng):
    """Slices with integers, ranges, steps of both signs, new axes and ellipses."""
    array = random_array(rng)
    index, written, taken = [], [], 0
    for _ in range(rng.randint(0, array.ndim + 1)):
        chance = rng.random()
        extent = array.shape[taken] if taken < array.ndim else 3
        if chance < 0.12:
            index.append(None)
            written.append(None)
        elif chance < 0.2:
            index.append(Ellipsis)
            written.append({"ellipsis": True})
        elif chance < 0.45:
            at = rng.randint(-extent - 1, extent) if rng.random() < 0.2 else rng.randint(
                -extent, max(extent - 1, -extent))
            index.append(at)
            written.append(at)
            taken += 1
        else:
            end = lambda: rng.choice([None, rng.randint(-extent - 2, extent + 2)])
            start, stop = end(), end()
            step = rng.choice([None, 1, 1, 2, 3, -1, -1, -2, -3, 10, -10] + [0] * (chance > 0.98))
            index.append(slice(start, stop, step))
            written.append({"slice": [start, stop, step]})
            taken += 1

    def answer():
        whole = index if Ellipsis in index else index + [Ellipsis]
        return array[tuple(whole)]

    return "sliced", array, {"slices": written}, answer


def random_factors(rng, volume):
    """Returns a shape of that volume."""
    shape = []
    while volume > 1 and rng.random() < 0.8:
        factor = rng.choice([n for n in range(1, volume + 1) if volume % n == 0])
        shape.append(factor)
        volume //= factor
    shape.append(volume)
    rng.shuffle(shape)
    return shape


def reshaped(rng):
    """Reshapes without a copy, or learns that it takes one."""
    array = random_array(rng)
    shape = random_factors(rng, array.size)
    if rng.random() < 0.3:
        shape[rng.randrange(len(shape))] = -1
    if rng.random() < 0.1:
        shape.insert(rng.randint(0, len(shape)), rng.choice([-1, 0, 1, 2]))
    if rng.random() < 0.2 and array.ndim:
        shape = list(array.shape)
        shape.insert(rng.randint(0, len(shape)), 1)
    return "reshaped", array, {"shape": shape}, lambda: array.reshape(shape, copy=False)


def axes_of(rng, ndim, count):
    """Returns axis numbers of either sign; now and then a wrong one."""
    axes = rng.sample(range(ndim), count)
    axes = [axis - ndim if rng.random() < 0.3 else axis for axis in axes]
    if axes and rng.random() < 0.06:
        axes[rng.randrange(len(axes))] = rng.choice([ndim, -ndim - 1, axes[0]])
    return axes


def permuted(rng):
    """Permutes axes."""
    array = random_array(rng)
    axes = axes_of(rng, array.ndim, array.ndim)
    if rng.random() < 0.04 and array.ndim:
        axes = axes[1:]
    return "permuted", array, {"axes": axes}, lambda: np.transpose(array, axes)


def transposed(rng):
    """Reverses the axes."""
    array = random_array(rng)
    return "transposed", array, {}, lambda: array.T


def broadcast_to(rng):
    """Broadcasts."""
    array = random_array(rng)
    shape = [rng.choice([1, 2, 4]) for _ in range(rng.choice([0, 0, 1, 2]))]
    for extent in array.shape:
        stretched = rng.choice([1, 3, 0, 5]) if extent == 1 else extent
        shape.append(rng.randint(-1, 5) if rng.random() < 0.04 else stretched)
    if rng.random() < 0.05:
        shape = shape[1:]
    return "broadcast_to", array, {"shape": shape}, lambda: np.broadcast_to(array, shape)


def squeezed(rng):
    """Drops the axes of one element."""
    array = random_array(rng)
    return "squeezed", array, {}, lambda: np.squeeze(array)


def unsqueezed(rng):
    """Inserts axes of one element."""
    array = random_array(rng)
    count = rng.randint(0, 3)
    axes = axes_of(rng, array.ndim + count, count)
    return "unsqueezed", array, {"axes": axes}, lambda: np.expand_dims(array, tuple(axes))


def flipped(rng):
    """Reverses an axis."""
    array = random_array(rng, least=1)
    axis = axes_of(rng, array.ndim, 1)[0]
    return "flipped", array, {"axis": axis}, lambda: np.flip(array, axis)


def diagonal(rng):
    """Takes a diagonal of two axes."""
    array = random_array(rng, least=2)
    first, second = axes_of(rng, array.ndim, 2)
    above = rng.randint(-7, 7)
    given = {"offset": above, "axis1": first, "axis2": second}
    return "diagonal", array, given, lambda: np.diagonal(array, above, first, second)


def windows(rng):
    """Slides a window over all axes."""
    array = random_array(rng, most=4)
    sizes = [rng.randint(1, max(extent, 1)) for extent in array.shape]
    if sizes and rng.random() < 0.1:
        sizes[rng.randrange(len(sizes))] += rng.randint(1, 6)
    slide = np.lib.stride_tricks.sliding_window_view
    return "windows", array, {"sizes": sizes}, lambda: slide(array, sizes)


def unfolded(rng):
    """Slides a window over one axis, by steps."""
    array = random_array(rng, least=1, most=4)
    axis = rng.randrange(array.ndim)
    size, step = rng.randint(1, array.shape[axis] + 1), rng.randint(1, 3)
    given = {"axis": axis, "size": size, "step": step}

    def answer():
        slid = np.lib.stride_tricks.sliding_window_view(array, size, axis)
        return slid[(slice(None),) * axis + (slice(None, None, step),)]

    return "unfolded", array, given, answer


def repacked(rng):
    """Sees the bytes as items of another size."""
    array = random_array(rng, least=1)
    size = rng.choice([array.itemsize * rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3, 4, 6, 8])])
    return "repacked", array, {"itemsize": size}, lambda: array.view(f"V{size}")


def to_dense(rng):
    """Lays the same shape out without gaps."""
    array = random_array(rng)
    order = rng.choice("CFK")

    def answer():
        # What is new begins at its own first byte.
        made = np.empty_like(array, order=order, subok=False)
        return np.ndarray(made.shape, made.dtype, BUFFER, 0, made.strides)

    return "to_dense", array, {"order": order}, answer


def bytes_of(array):
    """Returns the offsets of all bytes of all elements."""
    offsets = np.zeros(array.shape, np.int64) + layout_of(array)["offset_bytes"]
    for axis, stride in enumerate(array.strides):
        along = [1] * array.ndim
        along[axis] = array.shape[axis]
        offsets = offsets + (np.arange(array.shape[axis]) * stride).reshape(along)
    return (offsets[..., None] + np.arange(array.itemsize)).ravel()


def props(rng):
    """Asks for properties."""
    array = random_array(rng)
    if array.size:
        low, high = np.lib.array_utils.byte_bounds(array)
        span = [low - BASE, high - BASE - array.itemsize]
        size = high - BASE
    else:
        span, size = None, 0
    every = bytes_of(array)
    wanted = {
        "ndim": array.ndim,
        "shape": list(array.shape),
        "itemsize": array.itemsize,
        "volume": array.size,
        "is_empty": array.size == 0,
        "strides_bytes": list(array.strides),
        "offset_bounds_bytes": span,
        "required_size_in_bytes": size,
        "is_contiguous_c": array.flags.c_contiguous,
        "is_contiguous_f": array.flags.f_contiguous,
        "is_unique": len(np.unique(every)) == len(every),
    }
    return "props", array, {}, lambda: wanted


def overlap(rng):
    """Asks whether two arrays share a byte."""
    array, other = random_array(rng), random_array(rng)
    if rng.random() < 0.5 and array.ndim:
        # Two parts of one array are more often apart by little.
        axis = rng.randrange(array.ndim)
        whole = (slice(None),) * axis
        other = array[whole + (slice(1, None, 2),)]
        array = array[whole + (slice(0, None, 2),)]
    shared = bool(np.intersect1d(bytes_of(array), bytes_of(other)).size)
    return "overlap", array, {"other": layout_of(other)}, lambda: shared


OPERATIONS = [
    sliced, sliced, sliced, sliced, reshaped, reshaped, reshaped, permuted, transposed,
    broadcast_to, broadcast_to, squeezed, unsqueezed, unsqueezed, flipped, diagonal, windows,
    unfolded, repacked, repacked, to_dense, to_dense, props, props, overlap,
]

# What NumPy says of a refusal, and the name that cases give it; the first that fits counts.
KINDS = {
    "sliced": [
        ("single ellipsis", "several-ellipses"),
        ("too many indices", "too-many-indices"),
        ("step cannot be zero", "zero-step"),
        ("out of bounds", "index-range"),
    ],
    "reshaped": [
        ("Unable to avoid creating a copy", "strides-incompatible"),
        ("only specify one unknown", "several-inferred"),
    ],
    "permuted": [
        ("don't match array", "perm-length"),
        ("repeated axis", "perm-repeated-axis"),
        ("out of bounds", "perm-axis-range"),
    ],
    "broadcast_to": [
        ("must be non-negative", "negative-extent"),
        ("more dimensions than", "broadcast-ndim"),
        ("a non-scalar to a scalar", "broadcast-ndim"),
        ("could not be broadcast", "broadcast-extent"),
    ],
    "unsqueezed": [("repeated axis", "axis-repeated"), ("out of bounds", "axis-range")],
    "flipped": [("out of bounds", "axis-range")],
    "diagonal": [("cannot be the same", "axis-repeated"), ("out of bounds", "axis-range")],
    "windows": [("cannot be larger", "window-too-long")],
    "unfolded": [("cannot be larger", "window-too-long")],
    "repacked": [
        ("last axis must be contiguous", "axis-stride-not-one"),
        ("changing to a larger dtype", "axis-extent-not-divisible"),
        ("changing to a smaller dtype", "itemsize-not-dividing"),
    ],
}


def divides(array, given):
    """Says whether one item size divides the other; NumPy goes by the bytes of the whole axis."""
    small, large = sorted((array.itemsize, given["itemsize"]))
    return large % small == 0


def kind_of(operation, array, given, error):
    """Returns the name of a refusal."""
    said = str(error)
    if operation == "reshaped" and "cannot reshape" in said:
        return kind_of_reshape(array, given["shape"])
    if operation == "repacked":
        if not divides(array, given):
            return "itemsize-not-dividing"
    for part, kind in KINDS.get(operation, []):
        if part in said:
            return kind
    sys.exit(f"{operation}: no kind is known for `{said}`")


def kind_of_reshape(array, shape):
    """Tells apart what NumPy says in one sentence."""
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) > 1:
        return "several-inferred"
    if -1 not in shape:
        return "volume-mismatch"
    return "inferred-ambiguous" if known == 0 else "inferred-not-divisible"


def case(number, rng):
    """Returns one case."""
    operation, array, given, answer = rng.choice(OPERATIONS)(rng)
    made = {"id": f"{operation}-{number}", "op": operation, "in": layout_of(array), "args": given}
    try:
        answered = answer()
    except (ValueError, IndexError) as error:
        return {**made, "error": {"kind": kind_of(operation, array, given, error)}}
    if isinstance(answered, np.ndarray):
        if operation == "repacked" and not divides(array, given):
            return {**made, "error": {"kind": "itemsize-not-dividing"}}
        answered = layout_of(answered)
    return {**made, "expect": answered}


def main():
    """Prints the cases."""
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    if int(np.__version__.partition(".")[0]) != 2:
        sys.exit(f"these are the answers of NumPy 2, this is {np.__version__}")
    rng = random.Random(seed)
    for number in range(count):
        print(json.dumps(case(number, rng)))


if __name__ == "__main__":
    main()
