#!/usr/bin/env python3
"""Times matrix products of PyTorch for bench_gemm_shapes, with the protocol of gemm_peer.cpp.

  bench_gemm_shapes --peer "torch=PYTHON torch_gemm.py" ...

Contenders, on f32 tensors:
  mm       torch.mm into a preallocated result: MKL, OpenBLAS or oneDNN, as PyTorch was built
  linear   oneDNN's inner product, PyTorch's own copy of oneDNN; it allocates its result

The time of a call of the smallest product, 1x1x1, is subtracted: it is nearly all Python and PyTorch.
A product that takes less than ten times that long is not timed; gemm_peer.cpp measures those by calling
the libraries directly.

  torch_gemm.py --level    prints version, SIMD level and the libraries' files as a JSON object
"""
import json
import math
import pathlib
import re
import statistics
import sys
import time

import torch

from peers import STATISTICS

FEWEST_OVERHEADS = 10
LEAST_REPETITION_S = 200e-6
FEWEST_REPETITIONS = 5


def linear(a, b, _):
    return torch.ops.mkldnn._linear_pointwise(a, b.t(), None, "none", [], "")


CONTENDERS = {"mm": lambda a, b, out: torch.mm(a, b, out=out)}
if torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
    CONTENDERS["linear"] = linear


def seconds_per_call(call, slice_s, statistic=statistics.median):
    """A statistic of repetitions that are long enough for the clock, over about slice_s seconds."""
    def repetition(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - begin

    repetition(3)
    calls = max(1, math.ceil(LEAST_REPETITION_S / repetition(1)))
    times, end = [], time.perf_counter() + slice_s
    while len(times) < FEWEST_REPETITIONS or time.perf_counter() < end:
        times.append(repetition(calls) / calls)
    return statistic(times)


def operands(m, n, k):
    generator = torch.Generator().manual_seed(7)
    a, b = (torch.rand(shape, generator=generator) * 2 - 1 for shape in ((m, k), (k, n)))
    return a, b, torch.empty(m, n)


def verify(product, a, b):
    """Compares one row and one column with float64; raises ValueError if they differ too much."""
    row, col = product.shape[0] // 2, product.shape[1] // 2
    for found, wanted in ((product[row], a[row].double() @ b.double()),
                          (product[:, col], a.double() @ b[:, col].double())):
        limit = 6e-8 * (a.shape[1] + 1) * a.shape[1]
        if not torch.all((found.double() - wanted).abs() <= limit):
            raise ValueError("the product is wrong")


def timed(name, m, n, k, slice_s, statistic, overheads):
    contender = CONTENDERS[name]
    if name not in overheads:
        tiny = operands(1, 1, 1)
        overheads[name] = seconds_per_call(lambda: contender(*tiny), 0.1)
    a, b, out = operands(m, n, k)
    verify(contender(a, b, out), a, b)
    seconds = seconds_per_call(lambda: contender(a, b, out), slice_s, statistic)
    if seconds < FEWEST_OVERHEADS * overheads[name]:
        raise ValueError(f"{1e6 * seconds:.1f} us, of which a call alone takes "
                         f"{1e6 * overheads[name]:.1f}: too short to time from Python")
    return seconds - overheads[name]


def serve():
    torch.set_grad_enabled(False)
    print(*CONTENDERS, flush=True)
    overheads = {}
    for line in sys.stdin:
        name, *sizes, slice_s, statistic = line.split()
        try:
            seconds = timed(name, *map(int, sizes), float(slice_s),
                            STATISTICS[statistic], overheads)
            print(f"{seconds:.9f}", flush=True)
        except (KeyError, RuntimeError, ValueError) as error:
            print(" ".join(str(error).split()), flush=True)


def level():
    mkl = pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"
    onednn = pathlib.Path(sys.prefix) / "lib/libdnnl.so.3"
    used = re.search(r"CPU capability usage: (\S+)", torch.__config__.show())
    print(json.dumps({
        "version": torch.__version__,
        "level": used.group(1) if used else "",
        "mkl": str(mkl) if torch.backends.mkl.is_available() and mkl.exists() else None,
        "onednn": str(onednn) if onednn.exists() else None}))


if __name__ == "__main__":
    level() if sys.argv[1:] == ["--level"] else serve()
