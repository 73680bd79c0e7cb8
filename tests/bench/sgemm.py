"""The shapes and peers of the sgemm comparison, and its result."""
import statistics

SQUARES = (48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096)
RAGGED = ("129x131x127", "333x777x555", "1000x1000x1000", "100x1000x3", "256x120x400")
SKINNY = ("4096x64x256", "64x4096x256", "1024x1024x16", "4096x4096x32", "64x64x4096",
          "16x2048x2048", "2048x16x2048")
SHAPES = (*(f"{n}x{n}x{n}" for n in SQUARES), *RAGGED, *SKINNY)
QUICK_SHAPES = ("48x48x48", "512x512x512", "333x777x555", "1024x1024x16")
# Contenders of bench_gemm_shapes and its peers.
LIBRARIES = {"onednn": "Debian's oneDNN", "openblas": "Debian's OpenBLAS", "torch.mm": "torch.mm",
             "torch.linear": "PyTorch's oneDNN", "mkl.sgemm": "PyTorch's MKL",
             "onednn3.sgemm": "PyPI's oneDNN, sgemm", "onednn3.matmul": "PyPI's oneDNN, matmul"}


def ratios(a, b):
    return [x / y for x, y in zip(a, b)]


def merge(runs):
    """The objects of several runs of bench_gemm_shapes as one run with the rounds of all. A contender
    that a shape has not in every run is left out there."""
    merged = []
    for ones in zip(*runs):
        times = {name for name in ones[0] if name.endswith("_s") and all(name in one for one in ones)}
        merged.append({**{name: ones[0][name] for name in ("m", "n", "k")},
                       **{name: sum((one[name] for one in ones), []) for name in times}})
    return merged


class ShapeResult:
    """Time of the best library over the lab's at one shape: one ratio per round."""

    def __init__(self, one):
        sizes = (one["m"], one["n"], one["k"])
        self.shape = "x".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))
        self.best = min((name for name in LIBRARIES if f"{name}_s" in one),
                        key=lambda name: statistics.median(one[f"{name}_s"]))
        self.ratios = ratios(one[f"{self.best}_s"], one["lab_s"])
        self.ratio = statistics.median(self.ratios)

    def text(self):
        return f"{self.shape} {self.ratio:.2f} ({LIBRARIES[self.best]})"


def set_geometric_mean(outcome, results):
    # Medians per shape come first: an outlier at one shape would distort the mean of its round.
    outcome.set(map(statistics.geometric_mean, zip(*(one.ratios for one in results))),
                f"{len(results)} shapes: {', '.join(one.text() for one in results)}",
                statistics.geometric_mean(one.ratio for one in results))
