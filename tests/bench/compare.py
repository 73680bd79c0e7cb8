#!/usr/bin/env python3
"""Compares device-lab's kernels and training with PyTorch, oneDNN and OpenBLAS, and checks the bars.

  tests/bench/compare.py [--build build/release] [--torch PYTHON]... [--onednn FILE]
                         [--simd sse4|avx2|avx512] [--cores 2] [--only NAME,...] [--quick]

Builds the programs it needs. Every value is the median over the rounds of a ratio. Each round measures
every contender once, after a warm-up, on --cores threads (two, or one where there is one core). PyTorch is
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
import os
import sys

from comparison import compare, parser
from comparison_rows import ROWS

BUSY_LOAD = 0.5  # runnable tasks per core, before anything is started


def busy():
    """A list with a warning if other processes use the processor, otherwise empty."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load < BUSY_LOAD * cores:
        return []
    return [f"THE MACHINE IS BUSY (load {load:.1f} on {cores} cores): the figures are unreliable."]


def main():
    options = parser(__doc__, ROWS)
    options.add_argument("--fastest", dest="statistic", action="store_const", const="fastest",
                         default="median",
                         help="report the fastest step or call of a round instead of the median, for "
                              "a busy machine; the table says so")
    args = options.parse_args()
    warning = busy()  # before this script's own load
    return compare(args, ROWS, lambda: warning)


if __name__ == "__main__":
    sys.exit(main())
