"""Runs the programs that compare.py and busy.py compare: device-lab, PyTorch and the benchmark programs."""
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
THREADS = min(2, len(os.sched_getaffinity(0)))
LAB = "device-lab f32"
# What represents the steps or calls of a turn; the programs in this folder know the same names.
STATISTICS = {"median": statistics.median, "fastest": min, "mean": statistics.mean}
BATCHES = 10  # in device-lab's synthetic training set


def physical_cores(processors, root="/sys/devices/system/cpu"):
    """The first of the processors on each core: two hardware threads of a core are not two cores."""
    chosen, seen = [], set()
    for processor in processors:
        folder = pathlib.Path(root) / f"cpu{processor}/topology"
        try:
            core = tuple((folder / name).read_text() for name in ("physical_package_id", "core_id"))
        except OSError:
            core = processor  # not reported: a core of its own
        if core not in seen:
            chosen.append(processor)
        seen.add(core)
    return chosen


def take_cores(count=THREADS):
    """Restricts this process, and thereby all measured processes, to at most `count` cores, and their
    libraries to as many threads. Returns the cores."""
    cores = physical_cores(sorted(os.sched_getaffinity(0)))[:count]
    os.sched_setaffinity(0, cores)
    os.environ["OMP_NUM_THREADS"] = str(len(cores))
    return cores


class NotRun(Exception):
    """A measurement is unavailable: what is missing, or the command that failed and its error."""


def run(command, env=None):
    """Returns the standard output and the peak resident bytes of the process. Output goes to files,
    so that this process sleeps while the other is timed. Raises NotRun on failure."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err,
                                       env={**os.environ, **(env or {})})
        except OSError as error:
            raise NotRun(f"`{shlex.join(command)}`: {error.strerror}") from error
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            raise
        out.seek(0)
        err.seek(0)
        text = out.read()
        if process.returncode != 0:
            raise NotRun(f"`{shlex.join(command)}` exited with {process.returncode}: "
                         f"{reason(err.read() + text)}")
        return text, usage.ru_maxrss * 1024


def reason(text):
    """The first line that mentions an error, otherwise the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    return next((line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)), lines[-1])


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Turn:
    """Result of one process: seconds per step after the warm-up, and peak memory in bytes."""

    def __init__(self, seconds, peak_bytes, work):
        seconds = seconds[work.warm_up:]
        self.step_s = STATISTICS[work.statistic](seconds)
        self.peak_bytes = peak_bytes


class Lab:
    """Training in device-lab."""

    def __init__(self, program, dtype="f32", kernels="lab"):
        self.program, self.dtype, self.kernels = program, dtype, kernels
        self.name = f"device-lab {dtype}"

    def train(self, work):
        options = ["--dtype", self.dtype] if self.dtype != "f32" else []
        text, peak = run([self.program, "train", "--json", "--no-eval", "--model", work.model,
                          "--data", "synthetic", "--synthetic-train", BATCHES * work.batch,
                          "--synthetic-test", "10", "--batch", work.batch,
                          "--steps", work.steps, "--epochs", work.steps,
                          "--kernels", self.kernels, *options])
        ends = [event["t_s"] for event in objects(text) if event["type"] == "step"]
        if len(ends) != work.steps:
            raise NotRun(f"{self.name} ran {len(ends)} of {work.steps} steps")
        return Turn([b - a for a, b in zip([0.0, *ends], ends)], peak, work)


class Torch:
    """Training in one PyTorch version with one memory layout."""

    def __init__(self, python, version, layout):
        self.python, self.layout = python, layout
        self.name = f"PyTorch {version} {layout}"

    def train(self, work):
        text, peak = run([self.python, FOLDER / "torch_train.py", "--model", work.model,
                          "--batch", work.batch, "--layout", self.layout,
                          "--steps", work.steps, "--threads", len(os.sched_getaffinity(0))])
        return Turn(objects(text)[-1]["seconds"], peak, work)


class TorchVersion:
    """A Python interpreter with PyTorch; `why` is the reason if PyTorch is unavailable. `about` is what
    torch_gemm.py --level reports."""

    def __init__(self, python):
        self.python, self.version, self.why, self.about = python, None, None, {}
        try:
            self.about = objects(run([python, FOLDER / "torch_gemm.py", "--level"])[0])[-1]
            self.version = self.about["version"]
        except NotRun as error:
            self.why = str(error)

    def release(self):
        """(major, minor)."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:2])

    def layouts(self):
        return [Torch(self.python, self.version, layout) for layout in ("nchw", "channels_last")]


class Work:
    """A model and batch size, the steps per process, how many of them are warm-up, and the statistic
    of the remaining steps."""

    def __init__(self, model, batch, steps, warm_up, statistic="median"):
        self.model, self.batch, self.statistic = model, batch, statistic
        self.steps, self.warm_up = steps, warm_up


class Race:
    """Contenders that train the same work in interleaved rounds, each turn in its own process. The
    race ends if the first contender fails, since nothing is left to compare with."""

    def __init__(self, work, rounds, say):
        self.work, self.rounds, self.say = work, rounds, say
        self.turns, self.failures = {}, {}

    def run(self, contenders):
        for index in range(self.rounds):
            for one in contenders:
                if contenders[0].name in self.failures:
                    return
                if one.name in self.failures:
                    continue
                begin = time.monotonic()
                try:
                    self.turns.setdefault(one.name, []).append(one.train(self.work))
                except NotRun as error:
                    self.failures[one.name] = str(error)
                    self.turns.pop(one.name, None)
                self.say(f"{self.work.model} {self.work.batch}, round {index + 1} of "
                         f"{self.rounds}: {one.name}, {time.monotonic() - begin:.0f} s")

    def failed(self, *names):
        return any(name in self.failures for name in names)

    def of(self, name):
        if name in self.failures:
            raise NotRun(self.failures[name])
        if name not in self.turns:
            raise NotRun(next(iter(self.failures.values())))
        return self.turns[name]

    def images_per_s(self, name):
        return self.work.batch / statistics.median(turn.step_s for turn in self.of(name))

    def fastest(self, names):
        return max(names, key=self.images_per_s)
