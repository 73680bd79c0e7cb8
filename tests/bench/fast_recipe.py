#!/usr/bin/env python3
"""Measures the seconds to a test accuracy on Fashion-MNIST with `--preset fast`, against PyTorch with the
same recipe on the same cores.

  tests/bench/fast_recipe.py [--program build/release/device-lab] [--torch PYTHON] [--seeds 5]
                             [--accuracy 0.91] [--data DIR] [-- OPTION ...]

Each round is one seed: device-lab and PyTorch, in both memory layouts, one after another, each in its own
process on two threads. Seconds run from the first step to the end of the evaluation that reaches the
accuracy, all evaluations included; those of the whole process, which also starts and reads the data, are
given besides. A run that does not reach the accuracy counts as missed. Options after -- go to device-lab,
which passes its settings on to PyTorch: `-- --epochs 12`. --torch names a Python interpreter that has
PyTorch; default: $LAB_TORCH_PYTHON. Run it on an idle machine. The exit status is 0 if every seed reaches
the accuracy and the median is within the bar of 120 seconds.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

from peers import FOLDER, THREADS, NotRun, objects, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR_S, AIM_S = 120, 30


class Result:
    """One run: its last test accuracy, and the seconds to the accuracy or None."""

    def __init__(self, accuracy, seconds, process_s):
        self.accuracy, self.seconds, self.process_s = accuracy, seconds, process_s


def timed(command, env=None):
    begin = time.monotonic()
    text, _ = run(command, env)
    return objects(text), time.monotonic() - begin


def train_lab(args, seed):
    events, process_s = timed([args.program, "train", "--preset", "fast", "--data-dir", args.data,
                               "--stop-at", args.accuracy, "--seed", seed, "--json", *args.options])
    done = events[-1]
    return Result(done["test_acc"], done.get("reached_s"), process_s), done


def train_torch(args, settings, seed, layout):
    events, process_s = timed(
        [args.torch, FOLDER / "torch_fast.py", "--data", args.data, "--settings",
         json.dumps(settings), "--seed", seed, "--stop-at", args.accuracy, "--layout", layout,
         "--threads", THREADS], env={"OMP_NUM_THREADS": str(THREADS)})
    last = events[-1]["epochs"][-1]
    reached = last["test_acc"] >= args.accuracy
    return Result(last["test_acc"], last["seconds"] if reached else None, process_s)


def measure(args):
    """Returns {name: results, one per seed} and the settings of the recipe."""
    results = {}
    for seed in range(args.seeds):
        result, settings = train_lab(args, seed)
        turns = {"device-lab": result}
        for layout in ("nchw", "channels_last") if args.torch else ():
            turns[f"PyTorch {layout}"] = train_torch(args, settings, seed, layout)
        for name, one in turns.items():
            results.setdefault(name, []).append(one)
            print(f"seed {seed}: {name}, {one.accuracy:.4f}, {one.process_s:.1f} s", file=sys.stderr,
                  flush=True)
    return results, settings


def row(name, results):
    accuracies = [one.accuracy for one in results]
    reached = [one for one in results if one.seconds is not None]
    text = f"| {name} | {len(reached)} of {len(results)} | "
    if reached:
        seconds = [one.seconds for one in reached]
        process_s = statistics.median(one.process_s for one in reached)
        text += (f"{statistics.median(seconds):.1f} | {min(seconds):.1f} to {max(seconds):.1f} | "
                 f"{process_s:.1f} | ")
    else:
        text += "- | - | - | "
    return text + (f"{statistics.mean(accuracies):.4f} | {min(accuracies):.4f} to "
                   f"{max(accuracies):.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/device-lab")
    parser.add_argument("--torch", default=os.environ.get("LAB_TORCH_PYTHON"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--accuracy", type=float, default=0.91)
    parser.add_argument("--data", default=os.environ.get("LAB_DATA_DIR",
                                                         ROOT.parent / "shared/data/fashion-mnist"))
    parser.add_argument("options", nargs="*", help="of device-lab, after --")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    try:
        results, settings = measure(args)
    except NotRun as error:
        sys.exit(str(error))
    print(f"{settings['model']}, {settings['parameters']} parameters, batch {settings['batch']}, "
          f"at most {settings['epochs']} epochs; load before the first run {load:.1f}\n")
    print(f"| | seeds that reach {args.accuracy} | median s | lowest to highest | whole process, s | "
          "mean test accuracy | lowest to highest |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, ones in results.items():
        print(row(name, ones))
    ours = [one.seconds for one in results["device-lab"]]
    met = None not in ours and statistics.median(ours) <= BAR_S
    print(f"\nbar {BAR_S} s: {'met' if met else 'not met'}; aim {AIM_S} s: "
          f"{'met' if met and statistics.median(ours) <= AIM_S else 'missed'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
