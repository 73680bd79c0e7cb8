"""Runs device-lab with a fake driver library: it must work on the CPU and report why no GPU can be used.

Usage: driver_test.py KIND PROGRAM FOLDER_OF_FAKES
"""
import json
import os
import re
import subprocess
import sys

# Text that the reason must contain. None: it depends on this machine, as without the CUDA backend.
EXPECTED = {
    "none": None,
    # The driver's own version is named where a driver is loaded.
    "too_old": " is too old: it supports CUDA ",
    "no_device": "the CUDA driver starts but reports no device",
    "hidden": 'CUDA_VISIBLE_DEVICES="" hides every GPU',
    "broken": "the CUDA driver failed to start: cuInit returned 999 (CUDA_ERROR_UNKNOWN)",
}

# By CUDA version of the build: the CUDA version of the fake that is too old, and the oldest driver.
FAKES = {"12": ("11.8", 525), "13": ("12.2", 580)}


def run(program, folder, visible, *words):
    environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    if folder:
        environment["LD_LIBRARY_PATH"] = folder
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    return subprocess.run([program, *words], env=environment, capture_output=True, text=True,
                          timeout=50, check=False)


def objects(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_way_out(reason):
    found, build = re.search(r"supports CUDA (\d+\.\d), and this program needs CUDA (\d+)\.0", reason).groups()
    assert f"which needs driver {FAKES[build][1]} or later; install a newer driver" in reason, reason
    assert found == FAKES[build][0], reason
    assert (", or build the lab with CUDA 12" in reason) == (build == "13"), reason


def check_work_on_the_cpu(program, folder, visible):
    lines = objects(run(program, folder, visible, "matmul", "--devices", "cpu:0", "--sizes", "64",
                        "--budget", "0.05", "--json"))
    samples = [one for one in lines if one["type"] == "sample"]
    assert samples and all(one["verified"] for one in samples), lines
    assert {one["device"] for one in samples} == {"cpu:0"}, samples
    assert lines[-1]["type"] == "done", lines[-1]


def check(kind, program, folder, visible=None):
    lines = objects(run(program, folder, visible, "devices", "--json"))
    devices = [line["device"] for line in lines if line["type"] == "device"]
    reasons = [line["reason"] for line in lines if line["type"] == "skip"]
    if kind == "none" and "cuda:0" in devices:
        print("this machine has a driver and a GPU; the case without one cannot be tested")
        return
    assert devices == ["cpu:0"], devices
    assert reasons, "no reason given"
    expected = EXPECTED[kind]
    if expected is not None:
        assert all(expected in reason for reason in reasons), reasons
    if kind == "too_old":
        check_way_out(reasons[0])
    print(f"{kind}: {reasons[0]}")
    refused = run(program, folder, visible, "matmul", "--devices", "cuda:0", "--sizes", "64")
    assert refused.returncode == 1, refused
    assert reasons[0] in refused.stderr, refused.stderr
    check_work_on_the_cpu(program, folder, visible)


def main():
    kind, program, folders = sys.argv[1:]
    folder = None if kind == "none" else os.path.join(folders, kind)
    if folder and not os.path.exists(os.path.join(folder, "libcuda.so.1")):
        raise SystemExit(f"{folder}/libcuda.so.1 is missing; build the target fake_cuda")
    check(kind, program, folder)
    if kind == "no_device":
        check("hidden", program, folder, visible="")


main()
