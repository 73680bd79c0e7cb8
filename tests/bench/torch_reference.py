#!/usr/bin/env python3
"""Compares training in device-lab with PyTorch, from the same weights on the same images.

  torch_reference.py --program build/release/device-lab --data-dir DIR [--model lenet|resnet18|...]
                     [--devices N]

Needs Debian's python3-torch. Exit status 0 when every limit holds. The limits:
  lenet, mlp, softmax   20 steps in file order: each loss within 1e-5 of PyTorch's
  resnet18              first loss within 1e-5; the first update at lr 0.1, tensor by tensor,
                        within 5e-3 of float64's; from PyTorch's default weights, 10 steps at
                        lr 0.0005 within 1e-3
From the book's N(0, 0.01) weights resnet18 is chaotic even at that rate: PyTorch's own FP32 leaves
float64 by several 1e-3 within ten steps. So from there both distances to float64 are printed, and
nothing is demanded.

With --devices N the batch is split over N CPU devices, and PyTorch does what its DataParallel does:
each slice by itself through the same weights, batch norm over the slice alone, the mean loss over
the whole batch, the running statistics of the first slice.
"""
import argparse
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn

DTYPES = {"F32": numpy.float32, "I64": numpy.int64}
BOOK_LR = {"softmax": 0.1, "mlp": 0.1, "lenet": 0.9, "resnet18": 0.1}


def read_safetensors(path):
    raw = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = numpy.frombuffer(raw[8 + length:][begin:end], DTYPES[entry["dtype"]])
        tensors[name] = torch.from_numpy(data.copy().reshape(entry["shape"]))
    return tensors


def write_safetensors(path, tensors):
    header, parts, offset = {}, [], 0
    names = {numpy.dtype(dtype): name for name, dtype in DTYPES.items()}
    for name, tensor in tensors.items():
        values = tensor.numpy()
        header[name] = {"dtype": names[values.dtype], "shape": list(values.shape),
                        "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
        parts.append(values.tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_images(data_dir, count):
    def content(name):
        return gzip.open(pathlib.Path(data_dir) / (name + ".gz")).read()

    pixels = numpy.frombuffer(content("train-images-idx3-ubyte")[16:], numpy.uint8)
    labels = numpy.frombuffer(content("train-labels-idx1-ubyte")[8:], numpy.uint8)
    images = pixels.reshape(-1, 1, 28, 28)[:count].astype(numpy.float32) / numpy.float32(255)
    return torch.from_numpy(images), torch.from_numpy(labels[:count].astype(numpy.int64))


class Named(nn.Module):
    """Puts a network under "net.", as the book's classes do."""

    def __init__(self, *layers):
        super().__init__()
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, padding=1, stride=stride)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        reshapes = stride != 1 or inputs != channels
        self.conv3 = nn.Conv2d(inputs, channels, 1, stride=stride) if reshapes else None
        self.bn1 = nn.BatchNorm2d(channels)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (x if self.conv3 is None else self.conv3(x)))


def resnet18():
    net = nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
    inputs = 64
    for block, channels in enumerate([64, 128, 256, 512], start=1):
        first = Residual(inputs, channels, stride=1 if block == 1 else 2)
        net.add_module(f"resnet_block{block}", nn.Sequential(first, Residual(channels, channels)))
        inputs = channels
    net.add_module("global_avg_pool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("fc", nn.Sequential(nn.Flatten(), nn.Linear(512, 10)))
    return net


def build(model):
    if model == "softmax":
        return Named(nn.Flatten(), nn.Linear(784, 10))
    if model == "mlp":
        return Named(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    if model == "lenet":
        return Named(nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2, 2),
                     nn.Conv2d(6, 16, 5), nn.Sigmoid(), nn.AvgPool2d(2, 2), nn.Flatten(),
                     nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(),
                     nn.Linear(84, 10))
    return resnet18()


def data_parallel_step(net, images, labels, devices):
    """Mean loss of a batch in `devices` slices, its gradients left in the parameters; the running
    statistics are those of the first slice alone."""
    loss, kept = 0, None
    for part, answers in zip(torch.tensor_split(images, devices),
                             torch.tensor_split(labels, devices)):
        loss = loss + nn.functional.cross_entropy(net(part), answers, reduction="sum")
        if kept is None:
            kept = {name: buffer.clone() for name, buffer in net.named_buffers()}
    loss = loss / len(labels)
    loss.backward()
    for name, buffer in net.named_buffers():
        buffer.copy_(kept[name])
    return loss.item()


def train_torch(model, weights, data, batch, lr, steps, dtype=torch.float32, devices=1):
    """Losses of `steps` steps in file order, and the state after them."""
    net = build(model)
    net.load_state_dict(weights)  # strict: names and shapes must be the book's
    net = net.to(dtype).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    losses = []
    for step in range(steps):
        images = data[0][step * batch:(step + 1) * batch].to(dtype)
        labels = data[1][step * batch:(step + 1) * batch]
        optimizer.zero_grad()
        losses.append(data_parallel_step(net, images, labels, devices))
        optimizer.step()
    return losses, net.state_dict()


class Lab:
    def __init__(self, program, data_dir, kernels, devices):
        self.program, self.data_dir, self.kernels = program, data_dir, kernels
        self.devices = devices

    def train(self, model, *options):
        command = [self.program, "train", "--model", model, "--data", "fashion-mnist",
                   "--data-dir", self.data_dir, "--order", "sequential", "--no-eval", "--json",
                   "--kernels", self.kernels, "--cpu-devices", str(self.devices), "--devices",
                   ",".join(f"cpu:{i}" for i in range(self.devices)), *map(str, options)]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        events = [json.loads(line) for line in text.splitlines()]
        return [event["loss"] for event in events if event["type"] == "step"]


def worst_loss_error(ours, theirs):
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def verdict(what, error, limit):
    print(f"{'ok  ' if error <= limit else 'FAIL'} {what}: {error:.3g} (limit {limit:g})")
    return error <= limit


def worst_update_error(before, ours, theirs):
    """Largest relative error of an update. A convolution's bias in front of a batch norm has a
    gradient of 0, so there the rounding is compared with the tensor itself."""
    worst, where = 0.0, ""
    for name, start in before.items():
        if start.dtype != torch.float32:
            assert torch.equal(ours[name], theirs[name]), name
            continue
        want = theirs[name] - start.double()
        difference = (ours[name].double() - theirs[name]).norm()
        scale = want.norm() if want.norm() > 1e-6 * start.double().norm() else start.double().norm()
        error = float(difference / scale)
        if not error <= worst:
            worst, where = error, name
    return worst, where


def check_small(lab, model, init, data, batch):
    weights = read_safetensors(init)
    lr = BOOK_LR[model]
    ours = lab.train(model, "--init", init, "--batch", batch, "--lr", lr, "--steps", 20)
    theirs, _ = train_torch(model, weights, data, batch, lr, 20, devices=lab.devices)
    print("losses of device-lab:", ", ".join(f"{loss:.9g}" for loss in ours))
    print("losses of PyTorch:   ", ", ".join(f"{loss:.9g}" for loss in theirs))
    return verdict(f"{model}, 20 losses", worst_loss_error(ours, theirs), 1e-5)


def check_resnet18(lab, init, data, batch, folder):
    weights = read_safetensors(init)
    after = folder / "after.safetensors"
    first = lab.train("resnet18", "--init", init, "--batch", batch, "--lr", 0.1, "--steps", 1,
                      "--save", after)
    exact, state = train_torch("resnet18", weights, data, batch, 0.1, 1, torch.float64,
                               lab.devices)
    good = verdict("resnet18, first loss", worst_loss_error(first, exact), 1e-5)
    error, where = worst_update_error(weights, read_safetensors(after), state)
    _, single = train_torch("resnet18", weights, data, batch, 0.1, 1, devices=lab.devices)
    own, _ = worst_update_error(weights, single, state)
    good &= verdict(f"resnet18, first update ({where} is worst; PyTorch's own FP32 is {own:.3g} "
                    "from float64)", error, 5e-3)

    def ten_losses(start):
        ours = lab.train("resnet18", "--init", start, "--batch", batch, "--lr", 0.0005,
                         "--steps", 10)
        begin = read_safetensors(start)
        theirs, exact = (train_torch("resnet18", begin, data, batch, 0.0005, 10, dtype,
                                     lab.devices)[0]
                         for dtype in (torch.float32, torch.float64))
        print(f"     resnet18, 10 losses from {start.name}: device-lab is "
              f"{worst_loss_error(ours, exact):.3g} from float64, "
              f"PyTorch {worst_loss_error(theirs, exact):.3g}")
        return worst_loss_error(ours, theirs)

    default = folder / "default.safetensors"
    torch.manual_seed(0)
    write_safetensors(default, resnet18().state_dict())
    good &= verdict("resnet18, 10 losses at lr 0.0005", ten_losses(default), 1e-3)
    ten_losses(init)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--model", choices=BOOK_LR, help="only this one")
    parser.add_argument("--batch", type=int, help="default: 256, for resnet18 32, on several devices 64")
    parser.add_argument("--kernels", choices=["lab", "library"], default="lab")
    parser.add_argument("--devices", type=int, default=1, help="CPU devices to split over")
    args = parser.parse_args()
    lab = Lab(args.program, args.data_dir, args.kernels, args.devices)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for model in [args.model] if args.model else list(BOOK_LR):
            batch = args.batch or (32 * min(args.devices, 2) if model == "resnet18" else 256)
            data = read_images(args.data_dir, batch * 20)
            init = pathlib.Path(folder) / f"{model}.safetensors"
            lab.train(model, "--steps", 0, "--save", init)
            if model == "resnet18":
                good &= check_resnet18(lab, init, data, batch, pathlib.Path(folder))
            else:
                good &= check_small(lab, model, init, data, batch)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
