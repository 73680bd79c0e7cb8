"""The rows of compare.py: the measurement and the bar of each."""
import statistics

from comparison import CURRENT, DEBIAN, Outcome, Row
from peers import LAB, objects, run
from sgemm import ShapeResult, ratios, set_geometric_mean

BF16 = "device-lab bf16"


class Gemm(Row):
    """Time of the best library over the lab's: geometric mean over the shapes, and the worst shape."""

    targets = ("bench_gemm_shapes", "bench_gemm_peer")
    mean = "sgemm, own / best library, geometric mean over the shapes"

    def lines(self):
        return [Outcome(self.mean, 0.97, "1.05"),
                Outcome("sgemm, own / best library, worst shape", 0.85, "0.95")]

    def fill(self, setup, outcome):
        outcome.without = setup.gemm_peers()[1]
        results = [ShapeResult(one) for one in setup.sgemm_once()]
        if outcome.work == self.mean:
            set_geometric_mean(outcome, results)
        else:
            worst = min(results, key=lambda one: one.ratio)
            outcome.set(worst.ratios, worst.text())


class GemmPeak(Row):
    targets = ("bench_gemm_shapes",)

    def lines(self):
        return [Outcome(f"sgemm at {n} / measured FMA peak", 0.88, "0.95") for n in (1024, 2048)]

    def fill(self, setup, outcome):
        n = int(outcome.work.split()[2])
        (one,) = setup.gemm([f"{n}x{n}x{n}"], "--peak")
        gflops = [2e-9 * n**3 / seconds for seconds in one["lab_s"]]
        outcome.set(ratios(gflops, one["peak_gflops"]),
                    f"{statistics.median(gflops):.0f} of "
                    f"{statistics.median(one['peak_gflops']):.0f} GFLOP/s")


class Bf16Gemm(Row):
    targets = ("bench_gemm_shapes", "device-lab")

    def lines(self):
        return [Outcome("bf16 matmul / own f32 best at 2048", 1.6, "1.9")]

    def fill(self, setup, outcome):
        setup.need_bf16_instructions()
        (one,) = setup.gemm(["2048x2048x2048"], "--bf16")
        gflops = [2e-9 * 2048**3 / statistics.median(one[name]) for name in ("lab_bf16_s", "lab_s")]
        outcome.set(ratios(one["lab_s"], one["lab_bf16_s"]),
                    f"{gflops[0]:.0f} / {gflops[1]:.0f} GFLOP/s")


class Training(Row):
    """Throughput of `ours` over PyTorch's fastest layout or, without peers, over the lab's f32."""

    targets = ("device-lab",)

    def __init__(self, title, works, bar, aim, ours=LAB, peers=()):
        self.title, self.works, self.bar, self.aim = title, works, bar, aim
        self.ours, self.peers = ours, peers
        self.contenders = {"torch", "lab"} if peers else {"bf16", "lab"}

    def lines(self):
        return [Outcome(self.title.format(batch=work.split()[-1]), self.bar, self.aim)
                for work in self.works]

    def fill(self, setup, outcome):
        work = next(w for w in self.works
                    if self.title.format(batch=w.split()[-1]) == outcome.work)
        names = setup.layouts(self.peers, outcome) if self.peers else [LAB]
        if self.ours == BF16:
            setup.need_bf16_instructions()
        race = setup.race(work)
        theirs = race.fastest(names)
        detail = [f"{name} {race.images_per_s(name):.0f}" for name in [self.ours, *names]]
        outcome.set(ratios([turn.step_s for turn in race.of(theirs)],
                           [turn.step_s for turn in race.of(self.ours)]),
                    ", ".join(detail) + " images/s")


class Memory(Row):
    """Peak memory over that of the PyTorch process with the lowest peak."""

    targets = ("device-lab",)
    works = ("resnet18 256",)
    contenders = frozenset({"lab", "torch"})

    def lines(self):
        return [Outcome("peak memory of ResNet-18 training, batch 256 / PyTorch's process", 0.6,
                        "0.4", least=False)]

    def fill(self, setup, outcome):
        names = setup.layouts([DEBIAN, CURRENT], outcome)
        race = setup.race(self.works[0])
        peaks = {name: [turn.peak_bytes for turn in race.of(name)] for name in [LAB, *names]}
        least = min(names, key=lambda name: statistics.median(peaks[name]))
        outcome.set(ratios(peaks[LAB], peaks[least]),
                    ", ".join(f"{name} {statistics.median(values) / 2**30:.2f}"
                              for name, values in peaks.items()) + " GiB")


class Allocations(Row):
    """Maximum over all steps but the first, all models, and one and two devices."""

    targets = ("bench_step_allocations",)

    def lines(self):
        return [Outcome("heap allocations inside a training step after the first", 0, "0",
                        least=False)]

    def fill(self, setup, outcome):
        counts = {f'{one["model"]} x{one["devices"]}': one["allocations"][1:] for one in
                  objects(run([setup.programs / "bench_step_allocations", 6])[0])}
        worst = [max(per_step) for per_step in zip(*counts.values())]
        outcome.set(worst, ", ".join(f"{model} {max(values)}" for model, values in counts.items()),
                    value=max(worst))


RESNET = ("resnet18 64", "resnet18 256")
ROWS = {
    "gemm": Gemm(),
    "gemm-peak": GemmPeak(),
    "bf16-gemm": Bf16Gemm(),
    "resnet18-debian": Training("ResNet-18 f32, batch {batch} / PyTorch 1.13 (Debian)", RESNET, 2,
                                "3", peers=[DEBIAN]),
    "resnet18-current": Training("ResNet-18 f32, batch {batch} / current PyTorch", RESNET, 2, "3",
                                 peers=[CURRENT]),
    "resnet18-bf16": Training("ResNet-18 bf16 with f32 master weights, batch {batch} / own f32",
                              RESNET, 1.5, "1.8", ours=BF16),
    "lenet": Training("LeNet, batch 256 / PyTorch, the faster version", ("lenet",), 5, "10",
                      peers=[DEBIAN, CURRENT]),
    "mlp": Training("mlp, batch 256 / PyTorch, the faster version", ("mlp",), 2, "4",
                    peers=[DEBIAN, CURRENT]),
    "memory": Memory(),
    "allocations": Allocations(),
}
