#!/usr/bin/env python3
"""Compares training on this GPU with PyTorch on the same GPU, in the same run. Prints JSON Lines for bars.py.

    training.py DEVICE_LAB eager|compiled [--rounds N] [--seconds X] [--ready FILE] > training.jsonl

Both gather shuffled batches from bytes on the GPU, scale them and make complete steps with SGD. The contenders
of a row alternate; each round of PyTorch takes about X seconds, and a round of device-lab is one program whose
first epoch is left out. PyTorch's programs are compiled, captured and warmed up first; with --ready, they are
measured once FILE exists, so that compiling, which takes minutes for the compiled row, can overlap with other
work.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))  # in a bundle: beside this file

try:
    import torch
    from torch import nn
    from torch_models import BOOK_LR, build
except (ImportError, OSError) as missing:
    torch, why_no_torch = None, str(missing)

LAB = "device-lab"
BATCH = 256
IMAGES = 60 * BATCH
EPOCHS = {"resnet18": 4, "lenet": 41}
# model, dtype, and how PyTorch runs
ROWS = {"eager": [("resnet18", "tf32", ["eager channels_last", "eager"]),
                  ("lenet", "f32", ["graph", "graph channels_last"])],
        "compiled": [("resnet18", "bf16", ["max-autotune channels_last"])]}


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def reason_of(fault):
    return f"{type(fault).__name__}: {fault}"[:400]


class TorchTraining:
    """A network whose steps PyTorch runs eagerly, compiled or as a captured graph."""

    def __init__(self, model, dtype, way):
        torch.manual_seed(0)
        torch.backends.cudnn.benchmark = True
        how, *layout = way.split()
        self.tf32, self.bf16 = dtype != "f32", dtype == "bf16"
        self.allow_tf32()
        self.layout = torch.channels_last if layout else torch.contiguous_format
        self.net = build(model).cuda().to(memory_format=self.layout).train()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=BOOK_LR[model])
        self.pixels = torch.randint(0, 256, (IMAGES, 1, 28, 28), dtype=torch.uint8, device="cuda")
        self.answers = torch.randint(0, 10, (IMAGES,), device="cuda")
        self.order = torch.randperm(IMAGES, device="cuda")
        self.chosen = self.order[:BATCH].clone()
        self.compiled = how not in ("eager", "graph")
        self.forward = torch.compile(self.loss, mode=how) if self.compiled else self.loss
        self.run = self.step
        for _ in range(8):
            self.step()
        torch.cuda.synchronize()
        if how == "graph":
            self.capture()

    def allow_tf32(self):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = self.tf32

    def loss(self, images, answers):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.bf16):
            return nn.functional.cross_entropy(self.net(images), answers)

    def step(self):
        images = self.pixels[self.chosen].float().div_(255).contiguous(memory_format=self.layout)
        if self.compiled:  # the graphs of the step before may be overwritten
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad()
        self.forward(images, self.answers[self.chosen]).backward()
        self.optimizer.step()

    def capture(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        self.graph = graph
        self.run = graph.replay

    def seconds_per_step(self, steps):
        self.allow_tf32()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for step in range(steps):
            first = step % (IMAGES // BATCH) * BATCH
            self.chosen.copy_(self.order[first:first + BATCH])
            self.run()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / steps

    def measure(self, seconds):
        return self.seconds_per_step(max(20, int(seconds / self.seconds_per_step(10))))


class LabTraining:
    def __init__(self, program, model, dtype):
        self.command = [program, "train", "--model", model, "--devices", "cuda:0", "--dtype", dtype,
                        "--batch", str(BATCH), "--synthetic-train", str(IMAGES), "--epochs", str(EPOCHS[model]),
                        "--no-eval", "--json"]

    def measure(self, _seconds):
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise RuntimeError(" ".join(done.stderr.split())[-300:])
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        epochs = [one["seconds"] for one in lines if one["type"] == "epoch"]
        return statistics.median(epochs[1:]) * BATCH / IMAGES


def contenders(program, row):
    """Returns the contenders of a row by name, and reports those that cannot run."""
    model, dtype, ways = row
    made = {LAB: lambda: LabTraining(program, model, dtype)}
    if torch is not None:
        made |= {f"PyTorch {torch.__version__} {way}": lambda way=way: TorchTraining(model, dtype, way)
                 for way in ways}
    ready = {}
    for name, make in made.items():
        begin = time.perf_counter()
        try:
            ready[name] = make()
            print(f"{model} {dtype} {name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
        except Exception as fault:  # whatever a peer raises, the others are measured
            say("skip", what=f"{model} {dtype} by {name}", reason=reason_of(fault))
    return ready


def measure(row, ready, options):
    """Returns whether device-lab was measured."""
    model, dtype, _ = row
    times = {name: [] for name in ready}
    for _ in range(options.rounds):
        for name, contender in list(ready.items()):
            try:
                times[name].append(contender.measure(options.seconds))
            except Exception as fault:
                say("fail", what=f"{model} {dtype} by {name}", reason=reason_of(fault))
                del ready[name]
    for name in ready:
        step = statistics.median(times[name])
        say("train", model=model, dtype=dtype, batch=BATCH, by=name, step_s=step, fastest_s=min(times[name]),
            slowest_s=max(times[name]), images_per_s=BATCH / step, rounds=len(times[name]))
    return LAB in ready


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("rows", choices=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--ready", type=pathlib.Path)
    options = parser.parse_args()
    if torch is None:
        say("skip", what="PyTorch beside the lab", reason=why_no_torch)
    rows = [(row, contenders(options.program, row)) for row in ROWS[options.rows]]
    parent = os.getppid()
    while options.ready and not options.ready.exists():
        if os.getppid() != parent:
            return 1  # nobody will ask for the measurements
        time.sleep(0.2)
    measured = [measure(row, ready, options) for row, ready in rows]
    return 0 if all(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
