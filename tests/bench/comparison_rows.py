"""The rows of compare.py: the measurement and the bar of each."""
import os
import pathlib
import shlex
import statistics

import simd
from peers import FOLDER, Lab, NotRun, Race, Work, objects, run

SQUARES = (48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096)
RAGGED = ("129x131x127", "333x777x555", "1000x1000x1000", "100x1000x3", "256x120x400")
SKINNY = ("4096x64x256", "64x4096x256", "1024x1024x16", "4096x4096x32", "64x64x4096",
          "16x2048x2048", "2048x16x2048")
SHAPES = (*(f"{n}x{n}x{n}" for n in SQUARES), *RAGGED, *SKINNY)
# Contenders of bench_gemm_shapes and its peers.
LIBRARIES = {"onednn": "Debian's oneDNN", "openblas": "Debian's OpenBLAS", "torch.mm": "torch.mm",
             "torch.linear": "PyTorch's oneDNN", "mkl.sgemm": "PyTorch's MKL",
             "onednn3.sgemm": "PyPI's oneDNN, sgemm", "onednn3.matmul": "PyPI's oneDNN, matmul"}
QUICK_SHAPES = ("48x48x48", "512x512x512", "333x777x555", "1024x1024x16")
LAB, BF16 = "device-lab f32", "device-lab bf16"


class Peer:
    """A PyTorch version that a row needs: its title, and a predicate on (major, minor)."""

    def __init__(self, title, is_it):
        self.title, self.is_it = title, is_it


DEBIAN = Peer("PyTorch 1.13", lambda release: release == (1, 13))
CURRENT = Peer("PyTorch 2.9 or newer", lambda release: release >= (2, 9))


class Outcome:
    """A line of the table: one ratio per round, or the reason why it was not measured."""

    def __init__(self, work, bar, aim, least=True):
        self.work, self.bar, self.aim, self.least = work, bar, aim, least
        self.values, self.value, self.detail = [], None, ""
        self.without = []  # peers that the bar demands and that could not be measured

    def set(self, values, detail, value=None):
        """`value` defaults to the median of `values`."""
        self.values, self.detail = list(values), detail
        self.value = statistics.median(self.values) if value is None else value

    def not_run(self, why):
        self.detail = why.replace("|", "\\|")

    def met(self):
        return self.reaches(self.bar) and not self.without

    def reaches(self, limit):
        if not self.values:
            return False
        return self.value >= limit if self.least else self.value <= limit

    def verdict(self):
        if not self.values:
            return "NOT RUN"
        words = ["met" if self.reaches(self.bar) else "NOT MET"]
        if self.without:
            words.append(f"NOT COMPARED with {', '.join(self.without)}")
        return "; ".join(words)

    def bar_text(self):
        return f"{'>=' if self.least else '<='} {self.bar}"

    def value_text(self):
        return f"{self.value:.3g}" if self.values else ""

    def spread_text(self):
        if not self.values:
            return ""
        return f"{min(self.values):.3g} to {max(self.values):.3g}, {len(self.values)}"


class Row:
    """A benchmark: `lines()` creates its outcomes, `fill(setup, outcome)` measures one of them."""

    targets = ()
    contenders = frozenset()  # in the races: "lab", "bf16", "torch"
    works = ()                # keys of Setup.works


class Setup:
    """State shared by all rows: programs, peers, and races, each of which runs once."""

    def __init__(self, folder, torches, args, say):
        self.folder, self.torches, self.say = folder, torches, say
        self.rounds = args.rounds or (2 if args.quick else 5)
        self.quick, self.fastest = args.quick, args.fastest
        self.program = folder / "device-lab"
        self.programs = folder / "tests/bench"
        found = (torch.about.get("onednn") for torch in torches)
        self.onednn = args.onednn or next((pathlib.Path(one) for one in found if one), None)
        self.unbuilt = {}
        self._sgemm = None
        self.works = {
            "resnet18 64": Work("resnet18", 64, 5 if self.quick else 8, 2, self.fastest),
            "resnet18 256": Work("resnet18", 256, 3 if self.quick else 4, 1, self.fastest),
            "lenet": Work("lenet", 256, 150, 20, self.fastest),
            "mlp": Work("mlp", 256, 600, 50, self.fastest),
        }
        self._races, self._wanted = {}, {}

    def measure(self, rows):
        for row in rows:
            for work in row.works:
                self._wanted.setdefault(work, set()).update(row.contenders)
        outcomes = []
        for row in rows:
            for outcome in row.lines():
                try:
                    self._need(row.targets)
                    row.fill(self, outcome)
                except NotRun as error:
                    outcome.not_run(str(error))
                outcomes.append(outcome)
                self.say(f"{outcome.work}: {outcome.value_text()} {outcome.verdict()} "
                         f"{outcome.detail}")
        return outcomes

    def need_bf16_instructions(self):
        """Raises NotRun without AVX512-BF16: the bf16 bars assume native bf16 multiplication."""
        simd = objects(run([self.program, "devices", "--json"])[0])[0]
        if simd["simd"] != "AVX-512" or "BF16" not in simd["simd_detail"]:
            raise NotRun(f"the lab uses no AVX512-BF16 here: {simd['simd_detail']}")

    def _need(self, targets):
        for target in targets:
            if target in self.unbuilt:
                raise NotRun(self.unbuilt[target])

    def race(self, key):
        """The race of work `key`, with the contenders of all chosen rows; runs on first use."""
        if key not in self._races:
            wanted = self._wanted[key]
            contenders = [Lab(self.program)] if "lab" in wanted else []
            if "bf16" in wanted:
                contenders.append(Lab(self.program, "bf16"))
            if "torch" in wanted:
                contenders += [one for torch in self.torches if torch.version
                               for one in torch.layouts()]
            self._races[key] = Race(self.works[key], self.rounds, self.say)
            self._races[key].run(contenders)
        return self._races[key]

    def torch(self, peer):
        """The first PyTorch that is `peer`, or None."""
        return next((torch for torch in self.torches
                     if torch.version and peer.is_it(torch.release())), None)

    def layouts(self, peers, outcome):
        """Names of all layouts of `peers`. The outcome names those that are missing; raises NotRun if
        all are."""
        names = []
        for peer in peers:
            torch = self.torch(peer)
            if torch is None:
                outcome.without.append(peer.title)
            else:
                names += [one.name for one in torch.layouts()]
        if not names:
            missing = [torch.why for torch in self.torches if not torch.version]
            raise NotRun("; ".join([f"no {' or '.join(outcome.without)}: give its Python with "
                                    "--torch or LAB_TORCH_PYTHON", *missing]))
        return names

    def gemm(self, shapes, *options, rounds=None):
        """The objects of bench_gemm_shapes, one per shape; raises NotRun if any verification fails."""
        command = [self.programs / "bench_gemm_shapes", "--rounds", rounds or self.rounds,
                   "--seconds", 0.05 if self.quick else 0.15,
                   *(["--fastest"] if self.fastest else []), *options, *shapes]
        return objects(run(command)[0])

    def gemm_peers(self):
        """Commands of the libraries that bench_gemm_shapes is not linked with, by name, and the titles
        of those that are missing."""
        peer = shlex.quote(str(self.programs / "bench_gemm_peer"))
        torch, commands, missing = self.torch(CURRENT), {}, []
        if torch is None:
            missing.append(CURRENT.title)
        else:
            commands["torch"] = shlex.join([torch.python, str(FOLDER / "torch_gemm.py")])
            if torch.about["mkl"]:
                commands["mkl"] = f"{peer} {shlex.quote(torch.about['mkl'])}"
        if self.onednn is None:
            missing.append("oneDNN 3 of PyPI")
        else:
            path = shlex.quote(f"{self.onednn.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}")
            commands["onednn3"] = (f"env LD_LIBRARY_PATH={path} {peer} "
                                   f"{shlex.quote(str(self.onednn))}")
        return commands, missing

    def sgemm(self, rounds=None):
        """The objects of bench_gemm_shapes for all shapes, with all peers."""
        peers = [word for name, command in self.gemm_peers()[0].items()
                 for word in ("--peer", f"{name}={command}")]
        return self.gemm(QUICK_SHAPES if self.quick else SHAPES, *peers, rounds=rounds)

    def sgemm_once(self):
        """The same, measured on first use."""
        if self._sgemm is None:
            self._sgemm = self.sgemm()
        return self._sgemm

    def levels(self):
        """What device-lab and its peers report about their SIMD level, and why others do not."""
        reports, missing = [], []
        commands, _ = self.gemm_peers()
        asked = [lambda: simd.of_lab(self.program),
                 lambda: simd.of_library("oneDNN", simd.linked(self.program, "libdnnl")),
                 lambda: simd.of_library("OpenBLAS", "libopenblas.so.0"),
                 *(lambda torch=torch: simd.of_torch(torch) for torch in self.torches
                   if torch.version)]
        if "mkl" in commands:
            asked.append(lambda: simd.of_mkl(commands["mkl"]))
        if self.onednn:
            asked.append(lambda: simd.of_library(
                "PyPI's oneDNN", self.onednn, {"LD_LIBRARY_PATH": str(self.onednn.parent)}))
        for ask in asked:
            try:
                reports.append(ask())
            except NotRun as error:
                missing.append(str(error))
        return reports, missing


def ratios(a, b):
    return [x / y for x, y in zip(a, b)]


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
