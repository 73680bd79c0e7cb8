#!/usr/bin/env python3
"""Measures what other tools achieve on this GPU: pinned copies in both directions with nvbandwidth, on its own
patterns, and copies and matrix products with PyTorch, on random data. Prints JSON Lines for bars.py.

    peers.py > peers.jsonl        reports a skip for a tool that is missing or finds no GPU
"""
import json
import shutil
import statistics
import subprocess

try:
    import torch
except (ImportError, OSError) as missing:
    torch, why_no_torch = None, str(missing)

REPETITIONS = 10
NVBANDWIDTH_S = 20
CASES = {f"{way}_memcpy_{mover}": way.replace("_", " ")
         for way in ("host_to_device", "device_to_host") for mover in ("ce", "sm")}


def skip(tool, reason):
    print(json.dumps({"type": "skip", "what": f"{tool} beside the lab", "reason": reason}), flush=True)


def report(tool, what, **figures):
    print(json.dumps({"type": "peer", "tool": tool, "what": what, **figures}), flush=True)


def nvbandwidth():
    program = shutil.which("nvbandwidth")
    if not program:
        return skip("nvbandwidth", "it is not on PATH")
    try:
        done = subprocess.run([program, "--json", "--testcase", *CASES], capture_output=True, text=True,
                              timeout=NVBANDWIDTH_S, check=True)
        parsed = json.loads(done.stdout)["nvbandwidth"]
        for case in parsed["testcases"]:
            if case["status"] == "Passed":  # one row for the host, one column per GPU
                report(f"nvbandwidth {parsed['version']}", CASES[case["name"]],
                       gb_per_s=float(case["bandwidth_matrix"][0][0]))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as fault:
        skip("nvbandwidth", f"{type(fault).__name__}: {fault}")


def seconds(work, inner=1):
    """Returns the median seconds per call, timed with events after three warm-up calls."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPETITIONS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(inner):
            work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / inner)
    return statistics.median(times)


def copies(tool):
    for mib in (64, 256, 1024):
        count = mib << 20
        gpu = torch.randint(0, 256, (count,), dtype=torch.uint8, device="cuda")
        pinned = torch.empty(count, dtype=torch.uint8, pin_memory=True).copy_(gpu)
        ways = (("host to device", lambda: gpu.copy_(pinned, non_blocking=True)),
                ("device to host", lambda: pinned.copy_(gpu, non_blocking=True)))
        for what, work in ways:
            report(tool, what, bytes=count, gb_per_s=count / seconds(work, 4) * 1e-9)
        other = torch.empty_like(gpu)
        report(tool, "device to device", bytes=count,
               gb_per_s=2 * count / seconds(lambda: other.copy_(gpu), 4) * 1e-9)


def products(tool):
    torch.backends.cuda.matmul.allow_tf32 = False
    for n in (4096, 8192):
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            a, b = (torch.rand(n, n, device="cuda").mul(2).sub(1).to(dtype) for _ in range(2))
            s = seconds(lambda: a @ b, 4)
            report(tool, "matmul", dtype=name, n=n, gflops=2 * n ** 3 / s * 1e-9)


def pytorch():
    if torch is None:
        return skip("PyTorch", why_no_torch)
    if not torch.cuda.is_available():
        return skip("PyTorch", "it finds no GPU")
    tool = f"PyTorch {torch.__version__}"
    copies(tool)
    products(tool)


nvbandwidth()
pytorch()
