#!/usr/bin/env python3
"""Trains one of the chapters' networks in PyTorch on random images and times each step.

  torch_train.py --model resnet18 --batch 64 --layout channels_last --steps 8 [--threads 2]

A step is what device-lab's is: gradients to zero, forward, loss, backward, SGD; its images lie
ready in memory. Prints one JSON object: the version and the seconds of all steps, the first
included.
"""
import argparse
import json
import time

import torch
from torch import nn

from torch_models import BOOK_LR, build

BATCHES = 4  # used in turn, so that no step finds its images in the cache


def train(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format
    net = build(args.model).to(memory_format=layout).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=BOOK_LR[args.model])
    images = [torch.rand(args.batch, 1, 28, 28).to(memory_format=layout) for _ in range(BATCHES)]
    labels = [torch.randint(0, 10, (args.batch,)) for _ in range(BATCHES)]
    seconds = []
    for step in range(args.steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images[step % BATCHES]), labels[step % BATCHES])
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    return seconds, loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=BOOK_LR, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--layout", choices=["nchw", "channels_last"], default="nchw")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    seconds, loss = train(args)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(),
                      "seconds": seconds, "loss": loss}))


if __name__ == "__main__":
    main()
