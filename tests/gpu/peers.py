#!/usr/bin/env python3
"""What PyTorch reaches on this card: pinned copies both ways, a copy on the card, and matrix products,
on random data. One JSON object a line, for bars.py to compare with.

    peers.py > peers.jsonl        prints a skip and ends with 0 where PyTorch or a card is missing
"""
import json
import statistics
import sys

REPETITIONS = 10


def skip(reason):
    print(json.dumps({"type": "skip", "what": "PyTorch beside the lab", "reason": reason}))
    sys.exit(0)


try:
    import torch
except ImportError as error:
    skip(str(error))
if not torch.cuda.is_available():
    skip("PyTorch finds no card")


def seconds(work, inner=1):
    """Median seconds of one call, by events, after three calls to warm up."""
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


def report(what, **figures):
    print(json.dumps({"type": "peer", "tool": f"PyTorch {torch.__version__}", "what": what, **figures}),
          flush=True)


def copies():
    for mib in (64, 256, 1024):
        count = mib << 20
        pinned = torch.randint(0, 256, (count,), dtype=torch.uint8).pin_memory()
        card = torch.empty(count, dtype=torch.uint8, device="cuda")
        ways = (("host to device", lambda: card.copy_(pinned, non_blocking=True)),
                ("device to host", lambda: pinned.copy_(card, non_blocking=True)))
        for what, work in ways:
            report(what, bytes=count, gb_per_s=count / seconds(work, 4) * 1e-9)
        other = torch.empty_like(card)
        report("device to device", bytes=count,
               gb_per_s=2 * count / seconds(lambda: other.copy_(card), 4) * 1e-9)


def products():
    torch.backends.cuda.matmul.allow_tf32 = False
    for n in (4096, 8192):
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            a, b = (torch.rand(n, n, device="cuda").mul(2).sub(1).to(dtype) for _ in range(2))
            s = seconds(lambda: a @ b, 4)
            report("matmul", dtype=name, n=n, gflops=2 * n ** 3 / s * 1e-9)


copies()
products()
