#!/usr/bin/python3
"""Opens files that the program saves in PyTorch, where it is installed.

    torch_test.py PROGRAM CASE

Exit status 77: skipped, with the reason printed.
"""

import json
import struct
import sys

from lab_program import check, run, run_case

SKIPPED = 77


def tensors_in(file):
    """Returns {name: tensor} from a safetensors file of float32 tensors."""
    raw = file.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    found = {}
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        check(entry["dtype"] == "F32", f"{name} is {entry['dtype']}")
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(raw[begin:end]), dtype=torch.float32)
        found[name] = values.reshape(entry["shape"])
    return found


def case_network(program, home):
    """The state file of the lesson network is the state dict of a Linear(3, 1)."""
    file = home.file("net.safetensors")
    result = run(program, home, "lesson", "network", "--save", file, "--json")
    check(result.returncode == 0, result.stderr)
    net = torch.nn.Sequential(torch.nn.Linear(3, 1))
    net.load_state_dict(tensors_in(file), strict=True)
    check(all(bool(torch.isfinite(p).all()) for p in net.parameters()), "a parameter is not finite")
    samples = [json.loads(line) for line in result.stdout.splitlines()]
    (size,) = (one["value"] for one in samples if one.get("series") == "bytes of the state file"
               and one["type"] == "sample")  # fmt: skip
    check(size == file.stat().st_size, f"{size} reported, {file.stat().st_size} on disk")


def case_models(program, home):
    """The state files of trained models load by name."""
    layers = {"softmax": [(784, 10)], "mlp": [(784, 256), (256, 10)]}
    for model, sizes in layers.items():
        file = home.file(f"{model}.safetensors")
        result = run(program, home, "train", "--model", model, "--steps", "0", "--save", file)
        check(result.returncode == 0, result.stderr)
        shapes = [tuple(tensor.shape) for tensor in tensors_in(file).values()]
        expected = [shape for inputs, outputs in sizes for shape in ((outputs, inputs), (outputs,))]
        check(shapes == expected, f"{model} has {shapes}, not {expected}")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    try:
        import torch
    except ImportError as missing:
        print(f"skipped: PyTorch is not installed ({missing}); install python3-torch")
        sys.exit(SKIPPED)
    sys.exit(run_case(CASES, *sys.argv[1:3]))
