#!/usr/bin/env python3
"""Measures how training scales over CPU devices and processes, and checks the results against bars.

  tests/bench/scaling.py [--program build/release/device-lab] [--quick]

Builds the programs it needs in the program's folder. Compared values are medians over interleaved
rounds of this run. The exit status is 0 if every bar is met. Requires at least two cores and OpenMPI;
run it on an idle machine. A row that cannot be measured shows the reason and counts as not met.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from load import busy_processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
RESNET = ["--model", "resnet18", "--batch", "64", "--synthetic-train", "1280",
          "--synthetic-test", "10", "--no-eval"]
WARM_UP = 3  # steps


def cpus(n):
    return ",".join(f"cpu:{i}" for i in range(n))


def events_of(command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Row:
    def __init__(self, work, bar, aim):
        self.work, self.bar, self.aim = work, bar, aim
        self.value, self.detail, self.met = None, "", False

    def at_least(self, value, bar, detail=""):
        self.value, self.met, self.detail = f"{value:.3g}", value >= bar, detail

    def at_most(self, value, bar, detail=""):
        self.value, self.met, self.detail = f"{value:.3g}", value <= bar, detail

    def skip(self, why):
        self.value, self.detail = "not measured", why


class Bench:
    def __init__(self, program, rounds, steps):
        self.program, self.rounds, self.steps = str(program), rounds, steps

    def train(self, *options, launcher=()):
        return events_of([*launcher, self.program, "train", "--json", *map(str, options)])

    def resnet(self, *options, launcher=(), steps=None):
        """Seconds of each step after the warm-up, and the final JSON object."""
        events = self.train(*RESNET, "--steps", (steps or self.steps) + WARM_UP, *options,
                            launcher=launcher)
        seconds = [e["images"] / e["images_per_s"] for e in events if e["type"] == "step"]
        return seconds[WARM_UP:], events[-1]

    def run_interleaved(self, variants):
        """Median images/s and final JSON objects of each variant, by name; rounds are interleaved."""
        seconds = {name: [] for name in variants}
        done = {name: [] for name in variants}
        for _ in range(self.rounds):
            for name, run in variants.items():
                times, last = run()
                seconds[name] += times
                done[name].append(last)
        return {name: 64 / statistics.median(times) for name, times in seconds.items()}, done


def measure_speedups(bench, rows, mpi):
    variants = {
        "one": lambda: bench.resnet("--cpu-devices", 2, "--devices", "cpu:0"),
        "two": lambda: bench.resnet("--cpu-devices", 2, "--devices", cpus(2)),
    }
    if mpi:
        variants["ranks"] = lambda: bench.resnet(launcher=[*MPIRUN, "-n", "2"])
    speed, done = bench.run_interleaved(variants)
    detail = f"{speed['one']:.1f} -> {speed['two']:.1f} images/s"
    rows["devices"].at_least(speed["two"] / speed["one"], 1.85, detail)
    hidden = statistics.median(last["hidden_share"] for last in done["two"])
    split = done["two"][-1]["split"]
    rows["hidden"].at_least(
        hidden, 0.8, "per step: " + ", ".join(f"{name[:-2]} {1e3 * value:.2f} ms"
                                            for name, value in split.items()))
    if mpi:
        rows["ranks"].at_least(speed["ranks"] / speed["one"], 1.75,
                               f"{speed['one']:.1f} -> {speed['ranks']:.1f} images/s")


def measure_all_reduce(bench, row, programs):
    ours, theirs = [], []
    for _ in range(bench.rounds):
        ours += [e["median_s"] for e in events_of([programs / "bench_all_reduce"])]
        theirs += [e["mpi_s"]
                   for e in events_of([*MPIRUN, "-n", "2", programs / "bench_mpi_sum"])]
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    row.at_most(ours / theirs, 0.6, f"{1e3 * ours:.2f} ms / {1e3 * theirs:.2f} ms")


def measure_auto_shares(bench, row):
    """Compares auto with equal shares while a busy process occupies the second device's core."""
    devices = json.loads(subprocess.run([bench.program, "devices", "--json", "--cpu-devices", "2"],
                                        check=True, stdout=subprocess.PIPE,
                                        text=True).stdout.splitlines()[1])
    common = ["--cpu-devices", 2, "--devices", cpus(2), "--shares"]
    variants = {name: lambda name=name: adapted(bench, common + [name])
                for name in ("equal", "auto")}
    with busy_processes(devices["cores"][:1]):
        speed, _ = bench.run_interleaved(variants)
    row.at_least(speed["auto"] / speed["equal"], 1.2,
                 f"{speed['equal']:.1f} -> {speed['auto']:.1f} images/s")


def adapted(bench, options):
    """Like resnet(), but drops the first steps, during which automatic shares converge."""
    seconds, last = bench.resnet(*options, steps=bench.steps + 15)
    return seconds[15:], last


def fashion_mnist():
    for folder in (os.environ.get("LAB_DATA_DIR"), ROOT.parent / "shared/data/fashion-mnist"):
        if folder and pathlib.Path(folder).is_dir():
            return folder
    return None


def measure_accuracy(bench, row, rows, epochs):
    folder = fashion_mnist()
    if folder is None:
        for name in ("accuracy", "first 20", "epoch"):
            rows[name].skip("Fashion-MNIST not found; set LAB_DATA_DIR")
        return
    accuracy, losses = {}, {}
    for n in (1, 2, 4, 16):
        events = bench.train("--model", "lenet", "--data-dir", folder, "--epochs", epochs,
                             "--cpu-devices", n, "--devices", cpus(n))
        accuracy[n] = events[-1]["test_acc"]
        losses[n] = [e["loss"] for e in events if e["type"] == "step"][:235]
    spread = 100 * (max(accuracy.values()) - min(accuracy.values()))
    row.at_most(spread, 0.5, ", ".join(f"{n}: {value:.4f}" for n, value in accuracy.items()))

    def worst(steps):
        return max(abs(a - b) / b for n in (2, 4, 16)
                   for a, b in zip(losses[n][:steps], losses[1][:steps]))

    rows["first 20"].at_most(worst(20), 1e-5)
    rows["epoch"].at_most(worst(235), 1e-3)


def measure_repeats(bench, row, mpi):
    """Compares the saved weights of two runs of the same configuration, bit for bit."""
    def weights(launcher, options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "w.safetensors"
            bench.train(*RESNET, "--steps", 3, *options, "--save", file, launcher=launcher)
            return file.read_bytes()

    ways = {"2 devices": ((), ["--cpu-devices", 2, "--devices", cpus(2)])}
    if mpi:
        ways["2 ranks"] = ([*MPIRUN, "-n", "2"], [])
    same = [name for name, way in ways.items() if weights(*way) == weights(*way)]
    row.at_least(len(same) / len(ways), 1, ", ".join(same))


def build(program, mpi):
    folder = program.parent
    targets = ["bench_all_reduce"] + (["bench_mpi_sum"] if mpi else [])
    subprocess.run(["cmake", "-DLAB_TESTS=ON", folder], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "device-lab", *targets], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "tests/bench"


def has_mpi(program):
    cache = (program.parent / "CMakeCache.txt").read_text()
    if not re.search(r"^LAB_MPI:BOOL=(ON|1|TRUE)$", cache, re.MULTILINE):
        return False
    try:
        subprocess.run([*MPIRUN, "-n", "1", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def machine(program):
    version = subprocess.run([program, "version"], check=True, stdout=subprocess.PIPE,
                             text=True).stdout.splitlines()[0]
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                      re.MULTILINE)
    mpi = []
    if shutil.which("mpirun"):
        mpi = subprocess.run(["mpirun", "--version"], capture_output=True, text=True,
                             check=False).stdout.splitlines()[:1]
    return (f"{version}; {model.group(1) if model else platform.machine()}, "
            f"{len(os.sched_getaffinity(0))} cores; {platform.system()} {platform.release()}; "
            f"{mpi[0] if mpi else 'no MPI'}; {time.strftime('%Y-%m-%d')}")


def make_rows():
    return {
        "devices": Row("ResNet-18, batch 64, 1 -> 2 CPU devices of one core each, images/s",
                       ">= 1.85", "1.97"),
        "ranks": Row("the same with 2 MPI ranks of one core each", ">= 1.75", "1.9"),
        "all-reduce": Row("all-reduce of 11.2 M floats, 2 devices / OpenMPI's 2 ranks, time",
                          "<= 0.6", "0.3"),
        "hidden": Row("all-reduce time hidden behind backward, ResNet-18", ">= 0.8", "0.95"),
        "auto": Row("auto / equal shares, a busy process on one of two cores", ">= 1.2", "1.5"),
        "accuracy": Row("test accuracy, LeNet on 1, 2, 4, 16 devices, spread in points", "<= 0.5",
                        ""),
        "first 20": Row("LeNet's loss against one device's, worst of 20 steps", "<= 1e-5", ""),
        "epoch": Row("the same over an epoch", "<= 1e-3", ""),
        "repeats": Row("share of configurations that repeat bit for bit", ">= 1", ""),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/device-lab")
    parser.add_argument("--quick", action="store_true", help="one round, two epochs")
    args = parser.parse_args()
    program = args.program.resolve()
    rows = make_rows()
    mpi = has_mpi(program)
    programs = build(program, mpi)
    bench = Bench(program, rounds=1 if args.quick else 3, steps=6 if args.quick else 12)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("scaling.py: needs two cores, found one")
    os.sched_setaffinity(0, cores[:2])  # one core per device and per rank
    if not mpi:
        rows["ranks"].skip("built without MPI, or no mpirun")
        rows["all-reduce"].skip("built without MPI, or no mpirun")
    measure_speedups(bench, rows, mpi)
    if mpi:
        measure_all_reduce(bench, rows["all-reduce"], programs)
    measure_auto_shares(bench, rows["auto"])
    measure_accuracy(bench, rows["accuracy"], rows, epochs=2 if args.quick else 10)
    measure_repeats(bench, rows["repeats"], mpi)
    print(machine(program))
    print()
    print("| work | bar | aim | measured | | |\n| --- | --- | --- | --- | --- | --- |")
    for row in rows.values():
        print(f"| {row.work} | {row.bar} | {row.aim} | {row.value} | "
              f"{'met' if row.met else 'NOT MET'} | {row.detail} |")
    return 0 if all(row.met for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
