#!/usr/bin/env python3
"""Compares device-lab's kernels and training with PyTorch, oneDNN and OpenBLAS, and checks the bars.

  tests/bench/compare.py [--build build/release] [--torch PYTHON]... [--onednn FILE]
                         [--simd sse4|avx2|avx512] [--only NAME,...] [--quick]

Builds the programs it needs. Every value is the median over the rounds of a ratio. Each round measures
every contender once, after a warm-up, on two threads (one on a machine with one core). PyTorch is
represented by its faster layout, NCHW or channels_last. The exit status is 0 if every bar is met in at
least five rounds. Run it on an idle machine. A row that cannot be measured shows the reason and counts
as not met.

Each --torch names a Python interpreter that has PyTorch. Default: /usr/bin/python3 with Debian's
PyTorch 1.13, and $LAB_TORCH_PYTHON for a current release:
  python3 -m venv VENV && VENV/bin/pip install torch numpy onednn-cpu-gomp
  LAB_TORCH_PYTHON=VENV/bin/python tests/bench/compare.py

The peers of sgemm are Debian's oneDNN and OpenBLAS, torch.mm and oneDNN's inner product as PyTorch calls
it, MKL's sgemm called in PyTorch's library, and sgemm and matmul of a oneDNN 3 from PyPI: --onednn, or
lib/libdnnl.so.3 in the folder of the Python's environment. Products too short to time from Python are
left to the peers that are called directly.

--simd caps device-lab and all peers at one level, so that a machine with AVX-512 also compares AVX2 with
AVX2. Without it all use their best level, and caps in the environment are ignored. The heading names the
level that each of them reports. MKL reports none and ignores its cap on processors that are not Intel's.
"""
import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import simd
from comparison_rows import ROWS, Setup
from peers import NotRun, TorchVersion, run, take_cores

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN_PYTHON = "/usr/bin/python3"
FEWEST_ROUNDS = 5
BUSY_LOAD = 0.5  # runnable tasks per core, before anything is started


def say(text):
    print(text, file=sys.stderr, flush=True)


def torch_versions(pythons):
    pythons = pythons or [DEBIAN_PYTHON, os.environ.get("LAB_TORCH_PYTHON")]
    return [TorchVersion(python) for python in dict.fromkeys(pythons) if python]


def build(folder, targets):
    """Builds the targets; returns {target: error} for those that failed."""
    failures = {}
    commands = {"": ["cmake", "-DLAB_TESTS=ON", folder]}
    commands |= {target: ["cmake", "--build", folder, "--target", target] for target in targets}
    for target, command in commands.items():
        say(f"building {target}" if target else "configuring")
        try:
            run(command)
        except NotRun as error:
            failures[target] = str(error)
            if not target:
                return {name: str(error) for name in targets}
    return failures


def cpu_model():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                      re.MULTILINE)
    return found.group(1) if found else platform.machine()


def package_version(name):
    text = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True,
                          text=True, check=False).stdout
    return text.strip() or "?"


def machine(setup):
    try:
        version = " ".join(line.strip() for line in run([setup.program, "version"])[0]
                           .splitlines()[:2])
    except NotRun:
        version = "device-lab, not built"
    torches = [f"PyTorch {torch.version}" for torch in setup.torches if torch.version]
    return "; ".join([re.sub(" +", " ", version),
                      f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores",
                      f"{platform.system()} {platform.release()}",
                      f"oneDNN {package_version('libdnnl2')}",
                      f"OpenBLAS {package_version('libopenblas0-pthread')}", *torches,
                      time.strftime("%Y-%m-%d"),
                      *(["each round's fastest step or call"] if setup.fastest else [])])


def levels(setup, level):
    """Sentences for the heading: the level of each program and library, and caps without effect."""
    reports, missing = setup.levels()
    wanted = f"at {level} (--simd)" if level else "at the best level of this machine"
    return ["; ".join([f"Measured {wanted}: " + ", ".join(one.text() for one in reports), *missing]),
            *simd.mismatches(reports, level)]


def busy():
    """A list with a warning if other processes use the processor, otherwise empty."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load < BUSY_LOAD * cores:
        return []
    return [f"THE MACHINE IS BUSY (load {load:.1f} on {cores} cores): the figures are unreliable."]


def table(outcomes):
    lines = ["| work | bar | aim | measured | rounds: lowest to highest, n | | figures |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {o.work} | {o.bar_text()} | {o.aim} | {o.value_text()} | {o.spread_text()} | "
              f"{o.verdict()} | {o.detail} |" for o in outcomes]
    return "\n".join(lines)


def names(text):
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in ROWS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown row {', '.join(unknown)}; use "
                                         f"{', '.join(ROWS)}")
    return chosen


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}; it must be at least 1")
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release",
                        help="configured build folder (build/release)")
    parser.add_argument("--no-build", action="store_true", help="use the existing build")
    parser.add_argument("--torch", action="append", metavar="PYTHON", default=[])
    parser.add_argument("--onednn", type=pathlib.Path, metavar="FILE", help="a libdnnl.so.3")
    parser.add_argument("--simd", choices=simd.CAPS, metavar="LEVEL",
                        help=f"highest SIMD level of all contenders: {', '.join(simd.CAPS)}")
    parser.add_argument("--only", type=names, default=list(ROWS), metavar="NAME,...",
                        help=", ".join(ROWS))
    parser.add_argument("--quick", action="store_true", help="two rounds, for a quick check")
    parser.add_argument("--rounds", type=at_least_one, help="number of rounds (5, with --quick 2)")
    parser.add_argument("--fastest", action="store_true",
                        help="report the fastest step or call of a round instead of the median, for "
                             "a busy machine; the table says so")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                        help="also write machine and table to this file")
    return parser.parse_args()


def main():
    args = arguments()
    simd.cap(args.simd, os.environ)
    setup = Setup(args.build.resolve(), torch_versions(args.torch), args, say)
    chosen = [ROWS[name] for name in args.only]
    warning = busy()
    if not args.no_build:
        targets = sorted({target for row in chosen for target in row.targets})
        setup.unbuilt = build(setup.folder, targets)
    take_cores()
    said = levels(setup, args.simd)
    about = "\n\n".join([machine(setup), *said, *warning])
    outcomes = setup.measure(chosen)
    text = f"{about}\n\n{table(outcomes)}"
    print(text)
    if args.markdown:
        args.markdown.write_text(text + "\n")
    proven = setup.rounds >= FEWEST_ROUNDS and not setup.fastest and len(said) == 1
    if not proven:
        print(f"\nNot conclusive: that requires medians of at least {FEWEST_ROUNDS} rounds, at the "
              "level of --simd.")
    return 0 if proven and all(outcome.met() for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
