#!/usr/bin/env python3
"""Measures device-lab on cores that it does not have to itself, and checks the bars.

  tests/bench/busy.py [--build build/release] [--torch PYTHON]... [--onednn FILE] [--cores 2]
                      [--simd sse4|avx2|avx512] [--only NAME,...] [--quick]

Builds the programs it needs. Rounds alternate between the quiet machine and the same work beside a busy
process; gemm has a single quiet round. Every value is the median over the rounds of a ratio. The time of a
step or call is the mean of a round, because a busy process delays some of them by as much as a time slice,
which a median hides.
With n cores,
  gemm       one busy process per two cores: sgemm, own / best library in the same situation
  resnet18   one busy process on one core: speed / speed on the quiet machine; PyTorch's ratio beside it
  lenet      the same, for information
  unequal    half of each 20 ms of one core is taken: speed on all cores / sum of the cores' speeds, each
             measured alone; beside it, for information, the sum while each core trains for itself
  window     CPU time of the window's thread, which shows a running training / CPU time of that training

`unequal` takes the half by a CPU quota (cgroups) or, without the right to create one, by a process that
sleeps half of the time. `window` runs in Xvfb, where the threads of llvmpipe draw; a GPU would do that
work, so their time is shown and not counted. PyTorch, oneDNN and --simd are those of compare.py.

The heading warns if other processes took more than 5 % of the cores' time during a row. The exit status is
0 if every bar is met in at least five rounds.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from comparison import Outcome, Row, compare, parser
from load import Others, busy_processes, half_speed, threads_s
from peers import LAB, Lab, NotRun, Race, Work
from sgemm import ShapeResult, merge, ratios, set_geometric_mean

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gui"))
from lab_program import Failure, Home, own_display

OTHERS_LIMIT = 0.05
WARNINGS = []


def cores():
    return sorted(os.sched_getaffinity(0))


@contextlib.contextmanager
def on_cores(chosen):
    """Restricts programs that this thread starts inside to some of the cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Situated:
    """A contender of a race that trains in a situation, entered anew for each turn."""

    def __init__(self, contender, situation, enter):
        self.name = f"{contender.name}, {situation}"
        self._contender, self._enter = contender, enter

    def train(self, work):
        with self._enter():
            return self._contender.train(work)


class WatchedRow(Row):
    """A row that records what other processes took meanwhile."""

    def fill(self, setup, outcome):
        with Others(cores()) as others:
            self.measure(setup, outcome)
        outcome.detail += f"; other processes took {others.share:.1%} of the cores' time"
        if others.share > OTHERS_LIMIT:
            WARNINGS.append(f"THE MACHINE WAS BUSY: other processes took {others.share:.0%} of the "
                            f"cores' time during '{outcome.work}', which is unreliable.")


class Gemm(WatchedRow):
    targets = ("bench_gemm_shapes", "bench_gemm_peer", "device-lab")

    def lines(self):
        return [Outcome("sgemm beside one busy process per two cores, own / best library, geometric "
                        "mean over the shapes", 1.0, "1.3")]

    def measure(self, setup, outcome):
        outcome.without = setup.gemm_peers()[1]
        # A round takes minutes; the quiet one is for information.
        calm = [ShapeResult(one) for one in setup.sgemm(rounds=1)]
        busy = []
        for _ in range(setup.rounds):
            with busy_processes(every_second(cores())):
                busy.append(setup.sgemm(rounds=1))
        set_geometric_mean(outcome, [ShapeResult(one) for one in merge(busy)])
        mean = statistics.geometric_mean(one.ratio for one in calm)
        outcome.detail += f"; on the quiet machine {mean:.3g}"


def every_second(cores_):
    """The cores for one busy process per two cores; at least one."""
    return cores_[1::2] or cores_


class Training(WatchedRow):
    """Speed beside a busy process on the last core, over the speed on the quiet machine."""

    targets = ("device-lab",)

    def __init__(self, title, work, with_bar):
        self.title, self.work, self.with_bar = title, work, with_bar

    def lines(self):
        left = left_share(len(cores()))
        bar, aim = (round(0.9 * left, 3), f"{left:.3g}") if self.with_bar else (None, "")
        return [Outcome(f"{self.title} beside a busy process on one of {len(cores())} cores / quiet",
                        bar, aim)]

    def measure(self, setup, outcome):
        # PyTorch's figure is for information: the bar does not depend on it.
        contenders = [Lab(setup.program), *(one for torch in setup.torches if torch.version
                                            for one in torch.layouts())]
        race = Race(setup.works[self.work], setup.rounds, setup.say)
        race.run([turn for one in contenders for turn in (
            Situated(one, "quiet", contextlib.nullcontext),
            Situated(one, "busy", lambda: busy_processes(cores()[-1:])))])
        by_name = {one.name: ratios([turn.step_s for turn in race.of(f"{one.name}, quiet")],
                                    [turn.step_s for turn in race.of(f"{one.name}, busy")])
                   for one in contenders
                   if one.name == LAB or not race.failed(f"{one.name}, quiet", f"{one.name}, busy")}
        outcome.set(by_name[LAB], ", ".join(
            f"{name} {statistics.median(values):.3g} ({race.images_per_s(f'{name}, quiet'):.0f} -> "
            f"{race.images_per_s(f'{name}, busy'):.0f} images/s)"
            for name, values in by_name.items()))


def left_share(n):
    """What a busy process on one of n cores leaves: it takes half of that core."""
    return (n - 0.5) / n


class AtOnce:
    """A training on each core by a process of its own, all at the same time; half of the last core is taken.
    The speed of a turn is the sum of their speeds."""

    name = "one process per core, at the same time"

    def __init__(self, lab):
        self._lab = lab

    def train(self, work):
        half = work.steps - work.steps // 2  # the last core takes about as long for them
        parts = [(core, half if core == cores()[-1] else work.steps) for core in cores()]

        def train_on(core, steps):
            with on_cores([core]):
                return self._lab.train(Work(work.model, work.batch, steps, work.warm_up, work.statistic))

        with half_speed(cores()[-1]), concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
            turns = list(pool.map(train_on, *zip(*parts)))
        turns[0].step_s = 1 / sum(1 / turn.step_s for turn in turns)
        return turns[0]


class Unequal(WatchedRow):
    """Speed on all cores over the sum of the speeds of each, one of which is half taken. The cores may
    share power, caches and memory, so their sum while all of them work is shown beside it."""

    targets = ("device-lab",)

    def lines(self):
        return [Outcome("ResNet-18 on cores of which one is half taken / sum of the cores' speeds",
                        0.9, "0.97")]

    def measure(self, setup, outcome):
        if len(cores()) < 2:
            raise NotRun("it needs two cores")
        lab, how = Lab(setup.program), []
        at_once = AtOnce(lab)

        @contextlib.contextmanager
        def situation(chosen):
            with half_speed(cores()[-1]) as words, on_cores(chosen):
                how.append(words)
                yield

        names = {"all cores": cores(), **{f"core {core}": [core] for core in cores()}}
        race = Race(setup.works["resnet18 64"], setup.rounds, setup.say)
        race.run([*(Situated(lab, name, lambda chosen=chosen: situation(chosen))
                    for name, chosen in names.items()), at_once])
        speeds = {name: [race.work.batch / turn.step_s for turn in race.of(f"{LAB}, {name}")]
                  for name in names}
        together = speeds.pop("all cores")
        sums = [sum(each) for each in zip(*speeds.values())]
        detail = ", ".join(f"{name} {statistics.median(values):.1f}"
                           for name, values in {"all": together, **speeds}.items())
        detail += f" images/s; {how[0]}; {at_once.name}: "
        try:
            at_once_sums = [race.work.batch / turn.step_s for turn in race.of(at_once.name)]
            ratio = statistics.median(ratios(together, at_once_sums))
            detail += f"{statistics.median(at_once_sums):.1f} images/s, all / that sum {ratio:.3g}"
        except NotRun as error:
            detail += str(error)
        outcome.set(ratios(together, sums), detail)


class Window(WatchedRow):
    """CPU time of the window's thread over that of the training, from the threads' stat files."""

    targets = ("device-lab",)
    models = ("LeNet", "ResNet-18")

    def lines(self):
        return [Outcome(f"CPU time of the window while it shows {model} / that of the training",
                        0.02, "0.01", least=False) for model in self.models]

    def measure(self, setup, outcome):
        if shutil.which("Xvfb") is None:
            raise NotRun("Xvfb is not installed")
        model = next(name for name in self.models if f" {name} " in outcome.work)
        shares, parts = [], {}
        for _ in range(setup.rounds):
            try:
                with own_display(), Home() as home:
                    times = watch_training(setup.program, home, model, 5 if setup.quick else 20)
            except Failure as error:
                raise NotRun(str(error)) from error
            if times["training"] == 0:
                raise NotRun("the training's threads took no CPU time")
            shares.append(times["window"] / times["training"])
            for name, seconds in times.items():
                parts.setdefault(name, []).append(seconds)
        drawing = statistics.median(ratios(parts["drawing"], parts["training"]))
        outcome.set(shares, ", ".join(f"{name} {statistics.median(values):.2f} s"
                                      for name, values in parts.items()) +
                    f"; drawing in software, which a GPU would do, {drawing:.1%}")


@contextlib.contextmanager
def playing(program, home, steps):
    """The window's process while it plays a script."""
    script = home.file("script.jsonl")
    script.write_text("\n".join(map(json.dumps, steps)))
    process = subprocess.Popen([program, "--size", "1280x800", "--script", script], env=home.env,
                               cwd=home.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def wait_for_file(process, file, seconds):
    """Returns when the script has written the file; raises NotRun if the window closes first."""
    end = time.monotonic() + seconds
    while not file.exists():
        if process.poll() is not None:
            raise NotRun(f"the window closed: {process.stderr.read()}")
        if time.monotonic() > end:
            raise NotRun(f"the window did not write {file.name}")
        time.sleep(0.1)


def watch_training(program, home, model, seconds):
    """Seconds of CPU time of the window's thread, of software rendering and of all other threads while
    the window shows a training for about `seconds`."""
    steps = [
        {"click": "rail/training"},
        {"set": "training/model", "value": model},
        {"set": "training/epochs", "value": "1000"},
        {"click": "training/start"},
        {"wait_for": "status/cancel"},
        {"hover": ""},
        {"describe": "running.json"},
        {"wait": 10 * seconds + 60}]
    with playing(program, home, steps) as process:
        wait_for_file(process, home.file("running.json"), 60)
        time.sleep(2)  # until the first steps are over
        begin = threads_s(process.pid)
        time.sleep(seconds)
        return divide(process.pid, begin, threads_s(process.pid))


def divide(main_thread, begin, end):
    """CPU seconds between two results of threads_s() by purpose. Mesa names its threads "llvmpipe-0" and
    "device-l:disk$0"; threads of device-lab have the program's name."""
    times = {"window": 0.0, "drawing": 0.0, "training": 0.0}
    for thread, (name, seconds) in end.items():
        spent = seconds - begin.get(thread, (name, 0.0))[1]
        if thread == main_thread:
            times["window"] += spent
        elif name.startswith("llvmpipe") or ":" in name:
            times["drawing"] += spent
        else:
            times["training"] += spent
    return times


ROWS = {
    "gemm": Gemm(),
    "resnet18": Training("ResNet-18 f32, batch 64,", "resnet18 64", with_bar=True),
    "lenet": Training("LeNet, batch 256,", "lenet", with_bar=False),
    "unequal": Unequal(),
    "window": Window(),
}


def main():
    options = parser(__doc__, ROWS)
    options.set_defaults(statistic="mean")
    args = options.parse_args()
    return compare(args, ROWS, lambda: WARNINGS)


if __name__ == "__main__":
    sys.exit(main())
