#!/usr/bin/env python3
"""Compares the results of run_all.sh with the minimum targets for the GPU that they were measured on.

    bars.py RESULTS        prints a table; exit status 1 if a target is missed or was not measured
"""
import json
import pathlib
import sys
import tarfile

from results import read_files

LIBRARIES = {"cublas", "cublaslt"}
LARGE_BYTES = 64 << 20
PAST_CACHE_BYTES = 256 << 20  # per array, so that no part of it stays in L2


class Results:
    def __init__(self, folder):
        self.files = read_files(folder)

    def objects(self, name):
        found = []
        for line in self.files.get(name, b"").decode("utf-8", "replace").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                print(f"{name}: a line is truncated; the step was ended early")
        return [one for one in found if isinstance(one, dict)]

    def samples(self, name):
        return [one for one in self.objects(name) if one.get("type") == "sample"]


def best(values):
    return max(values, default=None)


def share(ours, theirs):
    return ours / theirs if ours and theirs else None


def memory_gb_per_s(results):
    """Peak rate of the GPU's memory, by its own clock and bus width: two transfers per clock."""
    for one in results.objects("devices.jsonl"):
        gpu = one.get("gpu", {})
        if one.get("device") == "cuda:0" and gpu.get("memory_clock_max_mhz") and gpu.get("memory_bus_bits"):
            return 2 * gpu["memory_clock_max_mhz"] * 1e6 * gpu["memory_bus_bits"] / 8 * 1e-9
    return None


def product_rows(results):
    # The lab's f32 kernels are SIMT only.
    for dtype, title, bar, aim in (("f32", "fp32 SIMT", 0.92, 1.0), ("bf16", "bf16", 0.90, 1.05)):
        samples = results.samples(f"matmul_{dtype}.jsonl")
        for n in (4096, 8192):
            here = [s for s in samples if s["n"] == n]
            ours = best(s["gflops"] for s in here if s["kernel"] not in LIBRARIES)
            library = best(s["gflops"] for s in here if s["kernel"] in LIBRARIES)
            yield f"best {title} rung / cuBLAS, N = {n}", share(ours, library), bar, aim


def rate(results, name, memory, least_bytes=LARGE_BYTES):
    return best(s["gb_per_s"] for s in results.samples(name)
                if s.get("op", "copy") == "copy" and s["bytes"] >= least_bytes and s["memory"] == memory)


def link_rows(results):
    peers = [o for o in results.objects("peers.jsonl") if o.get("type") == "peer"]
    for title, file, what in (("H2D", "transfer_up.jsonl", "host to device"),
                              ("D2H", "transfer_down.jsonl", "device to host")):
        theirs = best(p["gb_per_s"] for p in peers if p["what"] == what)
        yield f"pinned {title} / best of other tools", share(rate(results, file, "pinned"), theirs), 0.98, 1.0
    peak = memory_gb_per_s(results)
    shown = f"{peak * 1e-3:.2f} TB/s" if peak else "unknown rate"
    yield f"copy on the GPU / its memory's {shown}", share(
        rate(results, "transfer.jsonl", "device", PAST_CACHE_BYTES), peak), 0.85, 0.9


def training_rows(results):
    trained = [one for name in ("training_eager.jsonl", "training_compiled.jsonl") for one in results.objects(name)
               if one.get("type") == "train"]

    def images_per_s(model, dtype, *names):
        return best(one["images_per_s"] for one in trained if one["model"] == model and one["dtype"] == dtype
                    and any(name in one["by"] for name in names))

    for title, model, dtype, peer, bar, aim in (
            ("ResNet-18, tf32 / PyTorch eager", "resnet18", "tf32", "eager", 2.0, 3.0),
            ("ResNet-18, bf16 / PyTorch max-autotune", "resnet18", "bf16", "max-autotune", 1.2, 2.0),
            ("LeNet, f32 / PyTorch with CUDA graphs", "lenet", "f32", "graph", 1.5, 3.0)):
        yield title, share(images_per_s(model, dtype, "device-lab"), images_per_s(model, dtype, peer)), bar, aim
    rate = images_per_s("resnet18", "bf16", "device-lab")
    yield "1.5 s / epoch of ResNet-18 in bf16", rate and 1.5 * rate / 60000, 1.0, 2.5

    def done(name, field):
        return best(one[field] for one in results.objects(name) if one.get("type") == "done" and one.get(field))

    yield "5 s / time to 0.91, fast preset", share(5, done("train_fast.jsonl", "reached_s")), 1.0, 5.0
    yield ("5 s / time to 0.94, accurate preset, bf16", share(5, done("train_accurate.jsonl", "reached_s")), 1.0,
           1.0)
    seeds = [done(f"train_seed{seed}.jsonl", "test_acc") for seed in range(3)]
    yield "ResNet-18, 10 epochs: mean accuracy", sum(seeds) / 3 if all(seeds) else None, 0.905, 0.92


def failures(results):
    """Kernels that failed, which have no sample."""
    for name in sorted(results.files):
        if name.endswith(".jsonl"):
            for one in results.objects(name):
                if one.get("type") == "fail":
                    yield f"{one.get('kernel')} in {one.get('dtype')} at {one.get('n')}: {one.get('reason')}"


def main(words):
    if len(words) != 1 or not pathlib.Path(words[0]).is_dir():
        print("usage: bars.py RESULTS, a folder that run_all.sh wrote", file=sys.stderr)
        return 2
    try:
        results = Results(words[0])
    except (OSError, tarfile.TarError) as fault:
        print(f"bars.py: {words[0]}: {fault}", file=sys.stderr)
        return 1
    missed = False
    print(f"{'on this GPU':44} {'reached':>8} {'target':>6} {'goal':>6}")
    for title, reached, bar, aim in (*product_rows(results), *link_rows(results), *training_rows(results)):
        missed = missed or reached is None or reached < bar
        text = "N/A" if reached is None else f"{reached:.3f}"
        print(f"{title:44} {text:>8} {bar:>6} {aim:>6}{'' if reached and reached >= bar else '  missed'}")
    for failure in failures(results):
        missed = True
        print(f"failed: {failure}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
