#!/usr/bin/env python3
"""Searches for the cause of the drop in accuracy in the book's second chapter: each suspect is switched
alone, over several seeds, on ResNet-18 and Fashion-MNIST.

  tests/bench/accuracy.py [--program build/release/device-lab] [--out FOLDER] [--width 16] [--seeds 5]
                          [--epochs 10] [--arms ABFGCDE] [--data-dir FOLDER]

Arms with one device run side by side, one per core; arms with two devices use two cores. A run that FOLDER
already holds is not repeated, so that an interrupted study continues. At the end, or with --report alone,
prints for each arm the accuracy after the last epoch and in the best one, and the scatter of the last
epochs.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import statistics
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Name, batch, learning rate, devices, and whether the network continues from arm A's of the same seed.
ARMS = {
    "A": ("one device, as the book", 256, 0.1, 1, False),
    "B": ("fewer updates and a larger rate", 512, 0.2, 1, False),
    "F": ("fewer updates", 512, 0.1, 1, False),
    "G": ("larger rate", 256, 0.2, 1, False),
    "C": ("as B, batch norm over two slices", 512, 0.2, 2, False),
    "D": ("as B, network not fresh", 512, 0.2, 1, True),
    "E": ("as C, network not fresh: the book's second run", 512, 0.2, 2, True),
}


def redraw_weights(source, to, seed):
    """Copies a state file with the weights of convolutions and linear layers drawn again from
    N(0, 0.01), as the book's init_weights does. Biases and batch norm keep what they have learned."""
    content = source.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    values = bytearray(content[8 + length:])
    draw = random.Random(seed)
    for name, entry in header.items():
        if not name.endswith("weight") or len(entry["shape"]) < 2:
            continue
        begin, end = entry["data_offsets"]
        drawn = (draw.gauss(0, 0.01) for _ in range((end - begin) // 4))
        values[begin:end] = struct.pack(f"<{(end - begin) // 4}f", *drawn)
    to.write_bytes(content[:8 + length] + bytes(values))


class Study:
    def __init__(self, options):
        self.options = options
        self.out = options.out
        self.free_cores = queue.SimpleQueue()
        for core in sorted(os.sched_getaffinity(0)):
            self.free_cores.put(core)

    def folder(self, arm, seed):
        return self.out / f"{arm}{seed}"

    def is_done(self, arm, seed):
        return (self.folder(arm, seed) / "state.safetensors").exists()

    def run(self, arm, seed, cores):
        _, batch, lr, devices, continued = ARMS[arm]
        folder = self.folder(arm, seed)
        folder.mkdir(parents=True, exist_ok=True)
        o = self.options
        command = [str(o.program), "train", "--json", "--model", "resnet18", "--width", o.width,
                   "--data", "fashion-mnist", "--epochs", o.epochs, "--convolution", "rule",
                   "--batch", batch, "--lr", lr, "--seed", seed,
                   "--save", folder / "unfinished.safetensors"]
        if o.data_dir:
            command += ["--data-dir", o.data_dir]
        if devices > 1:
            names = ",".join(f"cpu:{i}" for i in range(devices))
            command += ["--cpu-devices", devices, "--devices", names]
        if continued:
            first = folder / "init.safetensors"
            redraw_weights(self.folder("A", seed) / "state.safetensors", first, 1000 + seed)
            command += ["--init", first]
            command[command.index("--seed") + 1] = 100 + seed  # another order of the images
        with open(folder / "events.jsonl", "w") as events, open(folder / "log", "w") as log:
            subprocess.run([str(part) for part in command], check=True, stdout=events, stderr=log,
                           preexec_fn=lambda: os.sched_setaffinity(0, cores))
        (folder / "unfinished.safetensors").rename(folder / "state.safetensors")
        print(f"{arm}{seed}: {self.accuracies(arm, seed)[-1]:.4f}", flush=True)

    def run_on_one_core(self, arm, seed):
        core = self.free_cores.get()
        try:
            self.run(arm, seed, {core})
        finally:
            self.free_cores.put(core)

    def run_all(self, arms, seeds):
        left = [(arm, seed) for seed in range(seeds) for arm in arms if not self.is_done(arm, seed)]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for continued in (False, True):  # arm D starts from the results of arm A
                list(pool.map(lambda job: self.run_on_one_core(*job),
                              [job for job in left
                               if ARMS[job[0]][3] == 1 and ARMS[job[0]][4] == continued]))
        for arm, seed in left:
            if ARMS[arm][3] > 1:
                self.run(arm, seed, os.sched_getaffinity(0))

    def accuracies(self, arm, seed):
        """Test accuracy after each epoch."""
        with open(self.folder(arm, seed) / "events.jsonl") as file:
            events = [json.loads(line) for line in file]
        return [event["test_acc"] for event in events if event["type"] == "epoch"]

    def report(self, arms):
        print("| arm | | batch | lr | n | last epoch: mean +- sd (least, most) | best epoch | "
              "sd within a run |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for arm in arms:
            name, batch, lr, _, _ = ARMS[arm]
            runs = [self.accuracies(arm, seed)
                    for seed in range(self.options.seeds) if self.is_done(arm, seed)]
            if not runs:
                continue
            last = [run[-1] for run in runs]
            spread = f" +- {statistics.stdev(last):.3f}" if len(last) > 1 else ""
            within = ""
            if len(runs[0]) >= 5:
                within = f"{statistics.mean(statistics.stdev(run[-5:]) for run in runs):.3f}"
            print(f"| {arm} | {name} | {batch} | {lr} | {len(runs)} | {statistics.mean(last):.3f}"
                  f"{spread} ({min(last):.3f}, {max(last):.3f}) | "
                  f"{statistics.mean(max(run) for run in runs):.3f} | {within} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/device-lab")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/accuracy")
    parser.add_argument("--data-dir")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--arms", default="".join(ARMS))
    parser.add_argument("--report", action="store_true", help="only report what FOLDER holds")
    options = parser.parse_args()
    if unknown := set(options.arms) - set(ARMS):
        sys.exit(f"accuracy.py: unknown arm {min(unknown)}; choose from {''.join(ARMS)}")
    if set(options.arms) & {"D", "E"} and "A" not in options.arms:
        sys.exit("accuracy.py: arms D and E continue from arm A; add A to --arms")
    study = Study(options)
    if not options.report:
        study.run_all(options.arms, options.seeds)
    study.report(options.arms)


if __name__ == "__main__":
    main()
