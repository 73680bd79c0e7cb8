#!/usr/bin/env python3
"""Trains one of the book's networks in PyTorch on random bytes and times each step.

  torch_train.py --model resnet18 --batch 64 --layout channels_last --steps 8 [--threads 2]

A step does the same work as in device-lab: a shuffled batch is gathered from bytes in memory and divided
by 255, then zero gradients, forward, loss, backward, SGD. Prints one JSON object with the version and the
seconds of every step, including the first.
"""
import argparse
import json
import time

import torch
from torch import nn

from torch_models import BOOK_LR, build

IMAGES = 60000


def train(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format
    net = build(args.model).to(memory_format=layout).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=BOOK_LR[args.model])
    pixels = torch.randint(0, 256, (IMAGES, 1, 28, 28), dtype=torch.uint8)
    answers = torch.randint(0, 10, (IMAGES,))
    order = torch.randperm(IMAGES)
    seconds = []
    for step in range(args.steps):
        first = step * args.batch % (IMAGES - args.batch)
        begin = time.perf_counter()
        chosen = order[first:first + args.batch]
        images = pixels[chosen].float().div_(255).to(memory_format=layout)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), answers[chosen])
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
