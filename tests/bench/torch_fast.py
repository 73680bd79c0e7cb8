#!/usr/bin/env python3
"""Trains the convnet with the fast recipe of device-lab in PyTorch and prints one JSON object.

  torch_fast.py --data DIR --settings JSON --seed N [--stop-at X] [--layout channels_last] [--threads 2]

SETTINGS is the last JSON object of `device-lab train --preset fast --json`: batch, rate and its course,
optimizer, smoothing, flips, whitening and epochs. The data set is in memory as bytes; reading it and
whitening are not timed. A step gathers a shuffled batch and divides by 255, as in device-lab. Reports the test accuracy and the
seconds after each epoch, evaluations included.
"""
import argparse
import gzip
import json
import pathlib
import time

import torch
from torch import nn

from torch_models import build


def read(data, part):
    def values(name, header):
        content = gzip.open(pathlib.Path(data) / f"{part}-{name}.gz").read()
        return torch.frombuffer(bytearray(content[header:]), dtype=torch.uint8)
    return values("images-idx3-ubyte", 16).view(-1, 1, 28, 28), values("labels-idx1-ubyte", 8).long()


def rate(settings, step, steps_per_epoch):
    """As LearningRate in device-lab."""
    warmup = settings["warmup_epochs"] * steps_per_epoch
    if step + 1 < warmup:
        return settings["lr"] * (step + 1) / warmup
    end = settings["epochs"] * steps_per_epoch
    return settings["lr"] * min(1, (end - step) / (end - warmup))


def whiten(conv, pixels):
    """As whiten_first_layer() in device-lab."""
    size = conv.kernel_size[0]
    chosen = torch.arange(1000) * len(pixels) // 1000
    patches = nn.functional.unfold(pixels[chosen].double() / 255, size).transpose(1, 2).flatten(0, 1)
    variances, components = torch.linalg.eigh(torch.cov(patches.T, correction=0))
    filters = (components / (variances.clamp(min=0) + 5e-4).sqrt()).T.flip(0)
    pairs = torch.stack([filters, -filters], 1).flatten(0, 1)[:conv.out_channels]
    with torch.no_grad():
        conv.weight[:len(pairs)] = pairs.view(-1, 1, size, size).float()


def accuracy(net, pixels, labels, layout):
    net.eval()
    with torch.no_grad():
        correct = sum((net((pixels[i:i + 1000].float() / 255).to(memory_format=layout)).argmax(1)
                       == labels[i:i + 1000]).sum().item() for i in range(0, len(labels), 1000))
    net.train()
    return correct / len(labels)


def step_on(net, optimizer, pixels, labels, settings, layout):
    images = pixels.float().div_(255)
    if settings["augment"] == "flip":
        flipped = torch.rand(len(images)) < 0.5
        images = torch.where(flipped[:, None, None, None], images.flip(3), images)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images.to(memory_format=layout)), labels,
                                       label_smoothing=settings["label_smoothing"])
    loss.backward()
    optimizer.step()


def train(args):
    settings = json.loads(args.settings)
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    pixels, labels = read(args.data, "train")
    tests = read(args.data, "t10k")
    layout = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format
    batch = settings["batch"]
    steps_per_epoch = -(-len(labels) // batch)
    epochs = []
    net = build(settings["model"]).to(memory_format=layout).train()
    if settings["first_layer"] == "whitened":
        whiten(next(layer for layer in net.modules() if isinstance(layer, nn.Conv2d)), pixels)
    optimizer = torch.optim.SGD(net.parameters(), lr=settings["lr"], momentum=settings["momentum"],
                                weight_decay=settings["weight_decay"])
    begin = time.perf_counter()
    for epoch in range(settings["epochs"]):
        order = torch.randperm(len(labels))
        for step in range(steps_per_epoch):
            for group in optimizer.param_groups:
                group["lr"] = rate(settings, epoch * steps_per_epoch + step, steps_per_epoch)
            chosen = order[step * batch:(step + 1) * batch]
            step_on(net, optimizer, pixels[chosen], labels[chosen], settings, layout)
        epochs.append({"test_acc": accuracy(net, *tests, layout),
                       "seconds": time.perf_counter() - begin})
        if args.stop_at and epochs[-1]["test_acc"] >= args.stop_at:
            break
    return epochs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--settings", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-at", type=float)
    parser.add_argument("--layout", choices=["nchw", "channels_last"], default="channels_last")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    print(json.dumps({"torch": torch.__version__, "epochs": train(args)}))


if __name__ == "__main__":
    main()
