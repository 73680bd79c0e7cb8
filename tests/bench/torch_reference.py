#!/usr/bin/env python3
"""Compares training in device-lab with PyTorch, given the same weights and images.

  torch_reference.py --program build/release/device-lab --data-dir DIR [--model lenet|resnet18|...]
                     [--kernels lab|library] [--dtype f32|bf16] [--devices N] [--accuracy]

Requires Debian's python3-torch. The exit status is 0 if every limit holds. The limits:
  lenet, mlp, softmax   20 steps in file order: each loss within 1e-5 of PyTorch's
  resnet18              first loss within 1e-5; the first update at lr 0.1, tensor by tensor,
                        within 5e-3 of float64's; from PyTorch's default weights, 10 steps at
                        lr 0.0005 within 1e-3
From the book's N(0, 0.01) weights, resnet18 is chaotic even at that learning rate: PyTorch's own FP32
differs from float64 by several 1e-3 within ten steps. For these weights, both distances to float64 are
printed without a limit.

With --dtype bf16, each of those losses must be within 3e-2 of PyTorch's FP32 loss. The update of the
book's weights magnifies rounding errors by more than 1e4, so in bf16 it is printed without a limit.

With --accuracy, both train from the same weights in file order instead, and their test accuracies must
agree within one point: lenet after 10 epochs, resnet18 after one epoch of 6,000 images in batches of 50
at lr 0.01 from PyTorch's default weights. At the book's lr of 0.1, rounding of sums changes the accuracy
after one epoch by more than a point. Takes many minutes.

With --devices N, the batch is split over N CPU devices. PyTorch is run like its DataParallel: each slice
passes through the same weights, batch norm covers the slice only, the mean loss covers the whole batch,
and the running statistics are those of the first slice.
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

from torch_models import BOOK_LR, build, resnet18

BF16_LIMIT = 3e-2
ACCURACY_LR = {"lenet": BOOK_LR["lenet"], "resnet18": 0.01}
ACCURACY_LIMIT = 0.01
DTYPES = {"F32": numpy.float32, "I64": numpy.int64}


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


def read_images(data_dir, count, part="train"):
    def content(name):
        return gzip.open(pathlib.Path(data_dir) / f"{part}-{name}.gz").read()

    pixels = numpy.frombuffer(content("images-idx3-ubyte")[16:], numpy.uint8)
    labels = numpy.frombuffer(content("labels-idx1-ubyte")[8:], numpy.uint8)
    images = pixels.reshape(-1, 1, 28, 28)[:count].astype(numpy.float32) / numpy.float32(255)
    return torch.from_numpy(images), torch.from_numpy(labels[:count].astype(numpy.int64))


def data_parallel_step(net, images, labels, devices):
    """Returns the mean loss of a batch split into `devices` slices and leaves its gradients in the
    parameters. The running statistics are those of the first slice."""
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


def accuracy_torch(model, weights, data, batch, lr, epochs, test, devices):
    """Test accuracy in [0, 1] after training in file order."""
    net = build(model)
    net.load_state_dict(weights)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    net.train()
    for _ in range(epochs):
        for images, labels in zip(data[0].split(batch), data[1].split(batch)):
            optimizer.zero_grad()
            data_parallel_step(net, images, labels, devices)
            optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(images).argmax(1) == labels).sum().item()
                    for images, labels in zip(test[0].split(500), test[1].split(500)))
    return right / len(test[1])


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
    def __init__(self, args):
        self.program, self.data_dir, self.devices = args.program, args.data_dir, args.devices
        self.kernels, self.dtype = args.kernels, args.dtype

    def limit(self, in_f32):
        return BF16_LIMIT if self.dtype == "bf16" else in_f32

    def train(self, model, *options):
        """Returns the loss of each step."""
        return [event["loss"] for event in self.events(model, "--no-eval", *options)
                if event["type"] == "step"]

    def events(self, model, *options):
        command = [self.program, "train", "--model", model, "--data", "fashion-mnist",
                   "--data-dir", self.data_dir, "--order", "sequential", "--json",
                   "--kernels", self.kernels, "--dtype", self.dtype,
                   "--cpu-devices", str(self.devices), "--devices",
                   ",".join(f"cpu:{i}" for i in range(self.devices)), *map(str, options)]
        result = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if result.returncode != 0:
            sys.exit(f"`{' '.join(map(str, command))}` exited with {result.returncode}")
        return [json.loads(line) for line in result.stdout.splitlines()]


def worst_loss_error(ours, theirs):
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def verdict(what, error, limit):
    print(f"{'ok  ' if error <= limit else 'FAIL'} {what}: {error:.3g} (limit {limit:g})")
    return error <= limit


def worst_update_error(before, ours, theirs):
    """Returns the largest relative error of an update, and the tensor's name. The gradient of a
    convolution's bias before batch norm is 0, so there the error is relative to the tensor itself."""
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
    return verdict(f"{model}, 20 losses", worst_loss_error(ours, theirs), lab.limit(1e-5))


def check_resnet18(lab, init, data, batch, folder):
    weights = read_safetensors(init)
    after = folder / "after.safetensors"
    first = lab.train("resnet18", "--init", init, "--batch", batch, "--lr", 0.1, "--steps", 1,
                      "--save", after)
    exact, state = train_torch("resnet18", weights, data, batch, 0.1, 1, torch.float64,
                               lab.devices)
    good = verdict("resnet18, first loss", worst_loss_error(first, exact), lab.limit(1e-5))
    error, where = worst_update_error(weights, read_safetensors(after), state)
    _, single = train_torch("resnet18", weights, data, batch, 0.1, 1, devices=lab.devices)
    own, _ = worst_update_error(weights, single, state)
    what = (f"resnet18, first update ({where} is worst; PyTorch's own FP32 is {own:.3g} from "
            "float64)")
    if lab.dtype == "f32":
        good &= verdict(what, error, 5e-3)
    else:
        print(f"     {what}: {error:.3g}")

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
    good &= verdict("resnet18, 10 losses at lr 0.0005", ten_losses(default), lab.limit(1e-3))
    ten_losses(init)
    return good


def check_accuracy(lab, model, folder):
    epochs, count, batch = (1, 6000, 50) if model == "resnet18" else (10, 60000, 256)
    lr = ACCURACY_LR[model]
    init = folder / "init.safetensors"
    if model == "resnet18":
        torch.manual_seed(0)
        write_safetensors(init, resnet18().state_dict())
    else:
        lab.train(model, "--steps", 0, "--save", init)
    events = lab.events(model, "--init", init, "--batch", batch, "--lr", lr,
                        "--steps", epochs * -(-count // batch))
    data = read_images(lab.data_dir, count)
    test = read_images(lab.data_dir, 10000, "t10k")
    ours = events[-1]["test_acc"]
    theirs = accuracy_torch(model, read_safetensors(init), data, batch, lr, epochs, test,
                            lab.devices)
    return verdict(f"{model}, test accuracy of device-lab {ours:.4f}, of PyTorch {theirs:.4f}",
                   abs(ours - theirs), ACCURACY_LIMIT)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--model", choices=BOOK_LR, help="compare only this model (all)")
    parser.add_argument("--batch", type=int,
                        help="batch size (256; resnet18 32, on several devices 64)")
    parser.add_argument("--kernels", choices=["lab", "library"], default="lab")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32",
                        help="device-lab's operand type (f32); PyTorch stays FP32")
    parser.add_argument("--devices", type=int, default=1, help="number of CPU devices (1)")
    parser.add_argument("--accuracy", action="store_true", help="compare accuracies, not losses")
    args = parser.parse_args()
    lab = Lab(args)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if args.accuracy:
            for model in [args.model] if args.model else list(ACCURACY_LR):
                good &= check_accuracy(lab, model, pathlib.Path(folder))
            return 0 if good else 1
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
