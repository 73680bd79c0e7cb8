"""Writes small valid seed files for a fuzz target.

usage: fuzz_seeds.py NAME FOLDER    writes the seeds of fuzz_NAME to FOLDER, which is created
"""
import gzip
import json
import pathlib
import struct
import sys


def idx(magic, *dimensions, values=b""):
    return struct.pack(f">{1 + len(dimensions)}I", magic, *dimensions) + values


def safetensors(tensors):
    """Returns a safetensors file. `tensors`: {name: (dtype, shape, data)}."""
    header, payload = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(payload), len(payload) + len(data)]}
        payload += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + payload


def idx_seeds():
    images = idx(0x803, 2, 28, 28, values=bytes(range(256)) * 6 + bytes(32))
    labels = idx(0x801, 3, values=bytes((0, 9, 5)))
    return [images, labels, idx(0x801, 0), gzip.compress(images, mtime=0),
            gzip.compress(labels, mtime=0), images[:20]]


def safetensors_seeds():
    floats = struct.pack("<4f", 0.0, 1.0, -2.5, float("nan"))
    return [
        safetensors({}),
        safetensors({"net.1.weight": ("F32", [2, 2], floats), "net.1.bias": ("F32", [0], b"")}),
        safetensors({"0.num_batches_tracked": ("I64", [], struct.pack("<q", 7)),
                     "h": ("BF16", [3], bytes(6))}),
        struct.pack("<Q", 1 << 60) + b"{}",
    ]


SEEDS = {"idx": idx_seeds, "safetensors": safetensors_seeds}

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS.get(sys.argv[1], lambda: [b"\0"])()):
        (folder / f"seed_{number}").write_bytes(seed)
