#!/usr/bin/env python3
"""Creates the reference file of a machine, which the window draws beside other results, from measured results.

  tests/gpu/reference.py RESULTS OUT.json                      from the output of run_all.sh in RESULTS
  tests/gpu/reference.py --measure PROGRAM RESULTS OUT.json    measures cpu:0 into RESULTS first

RESULTS holds devices.jsonl, transfer*.jsonl and matmul*.jsonl, as `device-lab ... --json` prints them, in
results.tar.gz or as files, and summary.json with the date, the version and the steps; without it, give --date,
--lab and --cache. --measure needs an idle machine for several minutes; the CPU reference of the repository is
created with
  tests/gpu/reference.py --measure build/release/device-lab /tmp/results assets/reference/NAME.json

Rejected with a message and exit status 1: runs that failed or are truncated, unverified samples, results of
several devices. The format is described in app/window/reference_machines.h.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time

from results import SUMMARY, read_files

FORMAT = 1
MEASURES = re.compile(r"(transfer|matmul)\w*\.jsonl")
COLD = re.compile(r"--cache[ =]cold\b")
# Device facts that matter for interpreting results.
DEVICE_FACTS = ["device", "name", "simd", "threads", "caches", "clock_max_mhz", "memory_total_bytes"]
GPU_FACTS = ["architecture", "compute_capability", "sms", "cuda_cores", "memory_bus_bits",
             "sm_clock_max_mhz", "memory_clock_max_mhz", "power_limits", "pcie_best", "ecc", "mig"]
BUSY_LOAD = 0.5  # runnable tasks per core before the measurement starts


class Refused(Exception):
    """The results cannot be used as a reference; the message is a sentence with the reason."""


def no_number(text):
    raise ValueError(f"{text} is not a number")


def read_lines(file, content):
    """Returns the objects of a JSON Lines file with this content."""
    objects = []
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise Refused(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            objects.append(json.loads(line, parse_constant=no_number))
        except ValueError as error:
            raise Refused(f"{file}, line {number} is not JSON: {error}") from error
        if not isinstance(objects[-1], dict) or not isinstance(objects[-1].get("type"), str):
            raise Refused(f"{file}, line {number} is not an object with a \"type\"")
    return objects


def finished(file, content):
    """Returns the objects of a run; raises Refused unless it succeeded."""
    objects = read_lines(file, content)
    for one in objects:
        if one["type"] == "error":
            raise Refused(f"{file} failed: {one.get('message', 'no reason given')}")
    if not objects or objects[-1]["type"] != "done":
        raise Refused(f"{file} was cut off: its last line is not \"done\"; measure again")
    return objects


def verified_samples(file, objects):
    samples = [one for one in objects if one["type"] == "sample"]
    for one in samples:
        if one.get("verified") is not True:
            raise Refused(f"{file} has a sample that is not verified: {json.dumps(one)[:200]}")
    return samples


def listed(objects, field):
    """Returns the entries of `field` in the 'done' objects of all runs."""
    return [entry for one in objects if one["type"] == "done" for entry in one.get(field, [])]


def own_device(samples):
    """Returns the one measured device; beside a GPU, cpu:0 is its host."""
    names = {one[end] for one in samples for end in ("device", "from", "to") if end in one}
    gpus = {name for name in names if name.startswith("cuda:")}
    own = gpus or names
    if len(own) != 1 or (gpus and names - gpus - {"cpu:0"}):
        raise Refused(f"results of {', '.join(sorted(names)) or 'no device'}; a reference covers one device")
    return own.pop()


def check_ladder(matmul, own):
    for one in matmul:
        if one["device"] != own:
            raise Refused(f"the ladder ran on {one['device']} and the transfers on {own}; measure one device")


def device_facts(files, own):
    if "devices.jsonl" not in files:
        raise Refused("devices.jsonl is missing; measure again")
    for one in read_lines("devices.jsonl", files["devices.jsonl"]):
        if one["type"] == "device" and one.get("device") == own:
            return one
    raise Refused(f"devices.jsonl does not list {own}, which was measured; measure again")


def shown_name(device):
    """Returns the display name; a CPU's includes its thread count, which its speed depends on."""
    name = re.sub(r"\s+", " ", device["name"]).strip()
    if "gpu" in device:
        return name
    threads = device["threads"]
    return f"{name}, {threads} thread{'' if threads == 1 else 's'}"


def chosen(facts, names):
    return {name: facts[name] for name in names if facts.get(name) is not None}


class Made:
    """Date, lab version and cache state of the results."""

    def __init__(self, folder, options):
        self.date, self.lab, self.commands = options.date, options.lab, []
        summary = folder / SUMMARY
        if summary.is_file():
            self.read(summary)
        caches = {"cold" if COLD.search(command) else "warm" for command in self.commands}
        if len(caches) > 1:
            raise Refused(f"{summary}: some commands ran with cold caches, some with warm ones")
        self.cache = options.cache or (caches.pop() if caches else None)
        for field, option in (("date", "--date"), ("lab", "--lab"), ("cache", "--cache")):
            if not getattr(self, field):
                raise Refused(f"{summary} lacks the date, the version or the settings of the measurement; "
                              f"give {option}")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", self.date):
            raise Refused(f"the date is {self.date!r}; write it as 2026-01-31")

    def read(self, summary):
        try:
            run = json.loads(summary.read_text("utf-8"))
        except ValueError as error:
            raise Refused(f"{summary} is not JSON: {error}") from error
        self.date = self.date or run.get("date")
        self.lab = self.lab or run.get("device_lab")
        for one in run["steps"]:
            if not MEASURES.fullmatch(f"{one['step']}.jsonl"):
                continue
            if "status" not in one:
                raise Refused(f"{summary}: {one['step']} was skipped: {one.get('not_run')}")
            if one["status"] != 0:
                raise Refused(f"{summary}: {one['step']} ended with status {one['status']}")
            self.commands += [one["command"]] if "command" in one else []


def reference(folder, options):
    files = read_files(folder)
    measured = sorted(name for name in files if MEASURES.fullmatch(name))
    if not measured:
        raise Refused(f"{folder} has no transfer*.jsonl and no matmul*.jsonl")
    made = Made(folder, options)
    runs = {name: finished(name, files[name]) for name in measured}
    samples = [one for name, objects in runs.items() for one in verified_samples(name, objects)]
    own = own_device(samples)
    device = device_facts(files, own)
    matmul = [one for one in samples if "kernel" in one]
    check_ladder(matmul, own)
    gpu = device.get("gpu", {})
    cuda = gpu.get("runtime_version") or gpu.get("cuda_version")  # prefers the lab's runtime
                                                                  # version over the driver's
    versions = {"device_lab": made.lab, "driver": gpu.get("driver_version"), "cuda": cuda}
    facts = chosen(device, DEVICE_FACTS)
    if gpu:
        facts["gpu"] = chosen(gpu, GPU_FACTS)
    ends = [one for objects in runs.values() for one in objects]
    return {"type": "machine", "format": FORMAT,
            "name": options.name or shown_name(device),
            "kind": own.split(":")[0],
            "date": made.date,
            "made_with": {key: str(value) for key, value in versions.items() if value},
            "settings": {"cache": made.cache, "commands": made.commands},
            "device": facts,
            "matmul": matmul,
            "peaks": listed(ends, "peaks"), "ceilings": listed(ends, "ceilings"),
            "transfers": [one for one in samples if "from" in one],
            "fits": listed(ends, "fits")}


def as_text(document):
    """Serialises the document with one sample per line."""
    fields = []
    for key, value in document.items():
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if isinstance(value, list) and value:
            entries = ",\n  ".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in value)
            text = f"[\n  {entries}\n ]"
        fields.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(fields) + "\n}\n"


def measure(program, folder):
    """Runs every measurement of cpu:0, as run_all.sh does for a GPU."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > BUSY_LOAD * cores:
        raise Refused(f"the machine is busy (load {load:.1f} on {cores} cores); measure while nothing else runs")
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    lab = version.splitlines()[0].removeprefix("device-lab ").strip()
    run = {"type": "run", "date": time.strftime("%Y-%m-%d", time.gmtime()), "device_lab": lab, "steps": []}
    steps = {"devices": "devices", "transfer": "transfer --from cpu:0 --to cpu:0",
             "matmul_f32": "matmul --devices cpu:0 --dtype f32", "matmul_bf16": "matmul --devices cpu:0 --dtype bf16"}
    for name, command in steps.items():
        started = time.monotonic()
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as out:
            status = subprocess.run([program, *command.split(), "--json"], stdout=out, check=False).returncode
        run["steps"].append({"step": name, "command": f"device-lab {command} --json", "status": status,
                             "seconds": round(time.monotonic() - started)})
        print(f"{name}: status {status}, {run['steps'][-1]['seconds']} s", file=sys.stderr, flush=True)
    (folder / SUMMARY).write_text(json.dumps(run, indent=1) + "\n")


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, metavar="RESULTS")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.json")
    parser.add_argument("--measure", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--name", help="name of the machine in the window; default: the name of the device")
    parser.add_argument("--date", help="date of the measurement, as 2026-01-31; default: from summary.json")
    parser.add_argument("--lab", metavar="VERSION",
                        help="version of Device Lab that measured; default: from summary.json")
    parser.add_argument("--cache", choices=["warm", "cold"],
                        help="caches before each repetition; default: from summary.json")
    return parser.parse_args(words)


def main(words=None):
    options = arguments(words)
    try:
        if options.measure:
            measure(options.measure.resolve(), options.results)
        text = as_text(reference(options.results, options))
        options.out.write_text(text, "utf-8")
    except (Refused, OSError, tarfile.TarError, subprocess.SubprocessError) as refusal:
        print(f"reference.py: {refusal}", file=sys.stderr)
        return 1
    except (KeyError, TypeError, AttributeError) as fault:
        print(f"reference.py: {options.results}: an object lacks {fault}", file=sys.stderr)
        return 1
    print(f"{options.out}: {len(text) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
