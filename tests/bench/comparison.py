"""What compare.py and busy.py share: outcomes and their table, peers, programs and the machine."""
import argparse
import os
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time

import simd
from peers import FOLDER, THREADS, Lab, NotRun, Race, TorchVersion, Work, objects, run, take_cores
from sgemm import QUICK_SHAPES, SHAPES

ROOT = FOLDER.parents[1]
DEBIAN_PYTHON = "/usr/bin/python3"
FEWEST_ROUNDS = 5


class Peer:
    """A PyTorch version that a row needs: its title, and a predicate on (major, minor)."""

    def __init__(self, title, is_it):
        self.title, self.is_it = title, is_it


DEBIAN = Peer("PyTorch 1.13", lambda release: release == (1, 13))
CURRENT = Peer("PyTorch 2.9 or newer", lambda release: release >= (2, 9))


class Outcome:
    """A line of the table: one ratio per round, or the reason why it was not measured. Without a bar it
    is for information."""

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
        if limit is None:
            return True
        if not self.values:
            return False
        return self.value >= limit if self.least else self.value <= limit

    def verdict(self):
        if not self.values:
            return "NOT RUN"
        words = ["met" if self.reaches(self.bar) else "NOT MET"] if self.bar is not None else []
        if self.without:
            words.append(f"NOT COMPARED with {', '.join(self.without)}")
        return "; ".join(words)

    def bar_text(self):
        if self.bar is None:
            return ""
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
        self.quick, self.statistic, self.level = args.quick, args.statistic, args.simd
        self.program = folder / "device-lab"
        self.programs = folder / "tests/bench"
        found = (torch.about.get("onednn") for torch in torches)
        self.onednn = args.onednn or next((pathlib.Path(one) for one in found if one), None)
        self.unbuilt = {}
        self._sgemm = None
        self.works = {
            "resnet18 64": Work("resnet18", 64, 5 if self.quick else 8, 2, self.statistic),
            "resnet18 256": Work("resnet18", 256, 3 if self.quick else 4, 1, self.statistic),
            "lenet": Work("lenet", 256, *((40, 10) if self.quick else (150, 20)), self.statistic),
            "mlp": Work("mlp", 256, 600, 50, self.statistic),
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
        """Raises NotRun where bf16 is multiplied as FP32: the bf16 bars assume native multiplication.
        Intel's AVX512-BF16 has half the rate of FP32, so the lab uses AMX there or none."""
        used = simd.of_lab(self.program)
        if used.level != "avx512" or "BF16" not in used.words:
            raise NotRun(f"the lab uses no AVX512-BF16 here: {used.words}")
        if "AMX" not in used.words and "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text():
            raise NotRun("the lab multiplies bf16 as f32 on Intel's processors without AMX")

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

    def torches_of(self, peer):
        return [torch for torch in self.torches if torch.version and peer.is_it(torch.release())]

    def layouts(self, peers, outcome):
        """Names of all layouts of `peers`. The outcome names those that are missing; raises NotRun if
        all are."""
        names = []
        for peer in peers:
            found = self.torches_of(peer)
            names += [one.name for torch in found for one in torch.layouts()]
            if not found:
                outcome.without.append(peer.title)
        if not names:
            missing = [torch.why for torch in self.torches if not torch.version]
            raise NotRun("; ".join([f"no {' or '.join(outcome.without)}: give its Python with "
                                    "--torch or LAB_TORCH_PYTHON", *missing]))
        return names

    def gemm(self, shapes, *options, rounds=None):
        """The objects of bench_gemm_shapes, one per shape; raises NotRun if any verification fails."""
        command = [self.programs / "bench_gemm_shapes", "--rounds", rounds or self.rounds,
                   "--seconds", 0.05 if self.quick else 0.15,
                   "--statistic", self.statistic, *options, *shapes]
        return objects(run(command)[0])

    def gemm_peers(self):
        """Commands of the libraries that bench_gemm_shapes is not linked with, by name, and the titles
        of those that are missing."""
        peer = shlex.quote(str(self.programs / "bench_gemm_peer"))
        commands, missing = {}, []
        torch = next(iter(self.torches_of(CURRENT)), None)
        if torch is None:
            missing.append(CURRENT.title)
        else:
            mkl = torch.about["mkl"] and f"{peer} {shlex.quote(torch.about['mkl'])}"
            if mkl and self._ignores_cap(mkl):
                # It uses AVX2 there, and so does torch.mm, while PyTorch's oneDNN is that of PyPI.
                missing.append("MKL, which cannot be capped on this processor")
            else:
                commands["torch"] = shlex.join([torch.python, str(FOLDER / "torch_gemm.py")])
                if mkl:
                    commands["mkl"] = mkl
        if self.onednn is None:
            missing.append("oneDNN 3 of PyPI")
        else:
            path = shlex.quote(f"{self.onednn.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}")
            commands["onednn3"] = (f"env LD_LIBRARY_PATH={path} {peer} "
                                   f"{shlex.quote(str(self.onednn))}")
        return commands, missing

    def _ignores_cap(self, mkl):
        """Whether MKL uses more than SSE4, to which it is to be capped, for all that it reports."""
        if self.level != "sse4":
            return False
        try:
            return simd.of_mkl(mkl).level is None
        except NotRun:
            return True

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
        if "mkl" in commands and (self.programs / "bench_gemm_peer").exists():
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


def say(text):
    print(text, file=sys.stderr, flush=True)


def torch_versions(pythons):
    pythons = pythons or [DEBIAN_PYTHON, os.environ.get("LAB_TORCH_PYTHON")]
    return [TorchVersion(python) for python in dict.fromkeys(pythons) if python]


def build(folder, targets):
    """Builds the targets; returns {target: error} for those that failed."""
    failures = {}
    commands = {"": ["cmake", "-DLAB_TESTS=ON", folder]}
    commands |= {target: ["cmake", "--build", folder, "--target", target] for target in targets}
    for target, command in commands.items():
        say(f"building {target}" if target else "configuring")
        try:
            run(command)
        except NotRun as error:
            failures[target] = str(error)
            if not target:
                return {name: str(error) for name in targets}
    return failures


def cpu_model():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                      re.MULTILINE)
    return found.group(1) if found else platform.machine()


def package_version(name):
    text = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True,
                          text=True, check=False).stdout
    return text.strip() or "?"


def machine(setup):
    try:
        version = " ".join(line.strip() for line in run([setup.program, "version"])[0]
                           .splitlines()[:2])
    except NotRun:
        version = "device-lab, not built"
    torches = [f"PyTorch {torch.version}" for torch in setup.torches if torch.version]
    return "; ".join([re.sub(" +", " ", version),
                      f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores",
                      f"{platform.system()} {platform.release()}",
                      f"oneDNN {package_version('libdnnl2')}",
                      f"OpenBLAS {package_version('libopenblas0-pthread')}", *torches,
                      time.strftime("%Y-%m-%d"),
                      f"each round's {setup.statistic} step or call"])


def levels(setup, level):
    """Sentences for the heading: the level of each program and library, and caps without effect."""
    reports, missing = setup.levels()
    wanted = f"at {level} (--simd)" if level else "at the best level of this machine"
    return ["; ".join([f"Measured {wanted}: " + ", ".join(one.text() for one in reports), *missing]),
            *simd.mismatches(reports, level)]


def table(outcomes):
    lines = ["| work | bar | aim | measured | rounds: lowest to highest, n | | figures |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {o.work} | {o.bar_text()} | {o.aim} | {o.value_text()} | {o.spread_text()} | "
              f"{o.verdict()} | {o.detail} |" for o in outcomes]
    return "\n".join(lines)


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}; it must be at least 1")
    return value


def parser(description, rows):
    """The options that the scripts share; `rows` maps the names of --only to rows."""
    def names(text):
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in rows]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown row {', '.join(unknown)}; use "
                                             f"{', '.join(rows)}")
        return chosen

    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release",
                      help="configured build folder (build/release)")
    made.add_argument("--no-build", action="store_true", help="use the existing build")
    made.add_argument("--torch", action="append", metavar="PYTHON", default=[])
    made.add_argument("--onednn", type=pathlib.Path, metavar="FILE", help="a libdnnl.so.3")
    made.add_argument("--simd", choices=simd.CAPS, metavar="LEVEL",
                      help=f"highest SIMD level of all contenders: {', '.join(simd.CAPS)}")
    made.add_argument("--only", type=names, default=list(rows), metavar="NAME,...",
                      help=", ".join(rows))
    made.add_argument("--quick", action="store_true",
                      help="two rounds and four shapes of sgemm, for a quick check")
    made.add_argument("--cores", type=at_least_one, default=THREADS,
                      help=f"cores and threads of each contender (default {THREADS})")
    made.add_argument("--rounds", type=at_least_one, help="number of rounds (5, with --quick 2)")
    made.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                      help="also write machine and table to this file")
    return made


def compare(args, rows, warnings):
    """Measures the chosen rows on at most --cores cores and prints the table; returns the exit status.
    `warnings` returns sentences about the machine, and is called before anything is started and after
    the measurements."""
    simd.cap(args.simd, os.environ)
    setup = Setup(args.build.resolve(), torch_versions(args.torch), args, say)
    chosen = [rows[name] for name in args.only]
    warning = warnings()
    if not args.no_build:
        setup.unbuilt = build(setup.folder, sorted({target for row in chosen
                                                    for target in row.targets}))
    take_cores(args.cores)
    said = levels(setup, args.simd)
    outcomes = setup.measure(chosen)
    text = "\n\n".join([machine(setup), *said, *dict.fromkeys([*warning, *warnings()]),
                        table(outcomes)])
    print(text)
    if args.markdown:
        args.markdown.write_text(text + "\n")
    proven = (setup.rounds >= FEWEST_ROUNDS and setup.statistic != "fastest" and
              len(said) == 1)
    if not proven:
        print(f"\nNot conclusive: that requires medians of at least {FEWEST_ROUNDS} rounds, at the "
              "level of --simd.")
    return 0 if proven and all(outcome.met() for outcome in outcomes) else 1
