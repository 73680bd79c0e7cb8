#!/usr/bin/env python3
"""Compares the results of run_all.sh with the minimum targets for one H200.

    bars.py RESULTS        prints a table; exit status 1 if a target is missed or was not measured
"""
import json
import pathlib
import sys

LIBRARIES = {"cublas", "cublaslt"}
MEMORY_GB_PER_S = 4300.0
LARGE_BYTES = 64 << 20
PAST_CACHE_BYTES = 256 << 20  # per array, so that no part of it stays in L2


def objects(results, name):
    path = results / name
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"{path}: a line is truncated; the step was ended early")
    return [one for one in found if isinstance(one, dict)]


def best(values):
    return max(values, default=None)


def share(ours, theirs):
    return ours / theirs if ours and theirs else None


def product_rows(results):
    # The lab's f32 kernels are SIMT only.
    for dtype, title, bar, aim in (("f32", "fp32 SIMT", 0.92, 1.0), ("bf16", "bf16", 0.90, 1.05)):
        samples = [o for o in objects(results, f"matmul_{dtype}.jsonl") if o.get("type") == "sample"]
        for n in (4096, 8192):
            here = [s for s in samples if s["n"] == n]
            ours = best(s["gflops"] for s in here if s["kernel"] not in LIBRARIES)
            library = best(s["gflops"] for s in here if s["kernel"] == "cublas")
            yield f"best {title} rung / cuBLAS, N = {n}", share(ours, library), bar, aim


def rate(results, name, memory, least_bytes=LARGE_BYTES):
    samples = [o for o in objects(results, name) if o.get("type") == "sample"]
    return best(s["gb_per_s"] for s in samples
                if s.get("op", "copy") == "copy" and s["bytes"] >= least_bytes and s["memory"] == memory)


def link_rows(results):
    peers = [o for o in objects(results, "peers.jsonl") if o.get("type") == "peer"]
    for title, file, what in (("H2D", "transfer_up.jsonl", "host to device"),
                              ("D2H", "transfer_down.jsonl", "device to host")):
        theirs = best(p["gb_per_s"] for p in peers if p["what"] == what)
        yield f"pinned {title} / best of other tools", share(rate(results, file, "pinned"), theirs), 0.98, 1.0
    yield "copy on the GPU / an H200's 4.3 TB/s", share(
        rate(results, "transfer.jsonl", "device", PAST_CACHE_BYTES), MEMORY_GB_PER_S), 0.97, 1.0


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: bars.py RESULTS, a folder that run_all.sh wrote")
    results = pathlib.Path(sys.argv[1])
    missed = False
    print(f"{'on this GPU':44} {'reached':>8} {'target':>6} {'goal':>6}")
    for title, reached, bar, aim in (*product_rows(results), *link_rows(results)):
        missed = missed or reached is None or reached < bar
        text = "N/A" if reached is None else f"{reached:.3f}"
        print(f"{title:44} {text:>8} {bar:>6} {aim:>6}{'' if reached and reached >= bar else '  missed'}")
    sys.exit(1 if missed else 0)


main()
