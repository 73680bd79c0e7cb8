"""The rows of compare.py: the measurement and the bar of each."""
import statistics

from peers import Lab, NotRun, Race, Work, objects, run

SQUARES = (64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)
RAGGED = ("4096x64x256", "64x4096x256", "1024x1024x16", "333x777x555", "100x1000x3")
LIBRARIES = {"onednn_s": "oneDNN", "openblas_s": "OpenBLAS"}
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

    def set(self, values, detail, value=None):
        """`value` defaults to the median of `values`."""
        self.values, self.detail = list(values), detail
        self.value = statistics.median(self.values) if value is None else value

    def not_run(self, why):
        self.detail = why.replace("|", "\\|")

    def met(self):
        if not self.values:
            return False
        return self.value >= self.bar if self.least else self.value <= self.bar

    def verdict(self):
        if not self.values:
            return "NOT RUN"
        return "met" if self.met() else "NOT MET"

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
        self.unbuilt = {}
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

    def layouts(self, peers):
        """Names of all layouts of `peers`; raises NotRun if a peer is missing."""
        names = []
        for peer in peers:
            found = [one.name for torch in self.torches
                     if torch.version and peer.is_it(torch.release()) for one in torch.layouts()]
            if not found:
                missing = [torch.why for torch in self.torches if not torch.version]
                raise NotRun("; ".join([f"no {peer.title}: give its Python with --torch or "
                                        "LAB_TORCH_PYTHON", *missing]))
            names += found
        return names

    def gemm(self, shapes, *options):
        """The objects of bench_gemm_shapes, one per shape; raises NotRun if any verification fails."""
        command = [self.folder / "tests/bench/bench_gemm_shapes", "--rounds", self.rounds,
                   "--seconds", 0.05 if self.quick else 0.15,
                   *(["--fastest"] if self.fastest else []), *options, *shapes]
        return objects(run(command)[0])


def cube(n):
    return f"{n}x{n}x{n}"


def ratios(a, b):
    return [x / y for x, y in zip(a, b)]


class Gemm(Row):
    """Time of the best library over the lab's, geometric mean over the shapes."""

    targets = ("bench_gemm_shapes",)

    def lines(self):
        return [Outcome("sgemm, own / best library, geometric mean of 15 shapes", 0.95, "> 1.0")]

    def fill(self, setup, outcome):
        by_shape, found = [], []
        for one in setup.gemm([*map(cube, SQUARES), *RAGGED]):
            best = min(LIBRARIES, key=lambda name, one=one: statistics.median(one[name]))
            by_shape.append(ratios(one[best], one["lab_s"]))
            sizes = (one["m"], one["n"], one["k"])
            shape = "x".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))
            found.append(f"{shape} {statistics.median(by_shape[-1]):.2f} ({LIBRARIES[best]})")
        # Medians per shape come first: an outlier at one shape would distort the mean of its round.
        outcome.set(map(statistics.geometric_mean, zip(*by_shape)), ", ".join(found),
                    statistics.geometric_mean(map(statistics.median, by_shape)))


class GemmPeak(Row):
    targets = ("bench_gemm_shapes",)

    def lines(self):
        return [Outcome(f"sgemm at {n} / measured FMA peak", 0.88, "0.95") for n in (1024, 2048)]

    def fill(self, setup, outcome):
        n = int(outcome.work.split()[2])
        (one,) = setup.gemm([cube(n)], "--peak")
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
        (one,) = setup.gemm([cube(2048)], "--bf16")
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
        names = setup.layouts(self.peers) if self.peers else [LAB]
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
        return [Outcome("peak memory of ResNet-18 training, batch 256 / PyTorch's process", 0.7,
                        "0.5", least=False)]

    def fill(self, setup, outcome):
        names = setup.layouts([DEBIAN, CURRENT])
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
                  objects(run([setup.folder / "tests/bench/bench_step_allocations", 6])[0])}
        worst = [max(per_step) for per_step in zip(*counts.values())]
        outcome.set(worst, ", ".join(f"{model} {max(values)}" for model, values in counts.items()),
                    value=max(worst))


RESNET = ("resnet18 64", "resnet18 256")
ROWS = {
    "gemm": Gemm(),
    "gemm-peak": GemmPeak(),
    "bf16-gemm": Bf16Gemm(),
    "resnet18-debian": Training("ResNet-18 f32, batch {batch} / PyTorch 1.13 (Debian)", RESNET, 1.5,
                                "2.5", peers=[DEBIAN]),
    "resnet18-current": Training("ResNet-18 f32, batch {batch} / current PyTorch", RESNET, 1.3, "2",
                                 peers=[CURRENT]),
    "resnet18-bf16": Training("ResNet-18 bf16 with f32 master weights, batch {batch} / own f32",
                              RESNET, 1.3, "1.8", ours=BF16),
    "lenet": Training("LeNet, batch 256 / PyTorch, the faster version", ("lenet",), 5, "10",
                      peers=[DEBIAN, CURRENT]),
    "mlp": Training("mlp, batch 256 / PyTorch, the faster version", ("mlp",), 2, "4",
                    peers=[DEBIAN, CURRENT]),
    "memory": Memory(),
    "allocations": Allocations(),
}
