#!/usr/bin/env python3
"""Measures how fast the window is and what it costs, and checks the bars.

  tests/bench/interface.py [--build build/release] [--cores 2] [--only NAME,...] [--quick] [--rounds N]

  frame    CPU time of building a frame, without drawing it: every page with results, and Training with
           20 runs of 50,000 steps each; at 1280x720 and 2560x1440; the slowest page counts
  start    from the start of the process to its first frame
  input    from a pointer motion to the pixel that it changes, while a matrix product is timed
  idle     CPU time of the window's thread, as a share of one core, while nothing runs
  memory   resident memory that a training of a million steps adds, and growth per hour of live plots

All but `frame` run the program in Xvfb, where the threads of llvmpipe draw; a GPU would do that work, so
`idle` does not count them. The exit status is 0 if every bar is met in at least five rounds.
"""
import contextlib
import ctypes
import pathlib
import re
import shutil
import statistics
import sys
import time

from busy import playing, wait_for_file, watch_training
from comparison import Outcome, Row, compare, parser
from load import threads_s
from peers import NotRun, objects, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gui"))
from input_test import timed_widgets, timing_window
from lab_program import Failure, Home, middle, own_display
from window_test import frame_stats
from window_user import close_window, open_window

MIB = 2**20


class Display:
    """Pointer and pixels of the X server at $DISPLAY."""

    def __init__(self):
        try:
            self._x, self._xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        except OSError as error:
            raise NotRun(str(error)) from error
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x.XGetImage.restype = ctypes.c_void_p
        self._x.XGetPixel.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(None))
        self._root = ctypes.c_ulong(self._x.XDefaultRootWindow(self._display))

    def move(self, x, y):
        self._xtst.XTestFakeMotionEvent(self._display, -1, x, y, ctypes.c_ulong(0))
        self._x.XFlush(self._display)

    def pixel(self, x, y):
        all_planes, z_pixmap = ctypes.c_ulong(-1), 2
        image = ctypes.c_void_p(self._x.XGetImage(self._display, self._root, x, y, 1, 1, all_planes,
                                                  z_pixmap))
        value = self._x.XGetPixel(image, 0, 0)
        self._x.XDestroyImage(image)
        return value


@contextlib.contextmanager
def desktop():
    """A display with an empty home. A failed check inside means that nothing can be measured."""
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        raise NotRun("Xvfb or xdotool is not installed")
    try:
        with own_display(), Home() as home:
            yield home
    except Failure as error:
        raise NotRun(str(error)) from error


def shown(program, home, page):
    """Opens the window like a user, at the corner of the screen and on `page`."""
    home.write_settings({"page": page})
    return open_window(program, home)


class Frame(Row):
    targets = ("bench_interface_frames",)

    def lines(self):
        return [Outcome("CPU ms of building a frame, slowest page", 2, "1", least=False)]

    def fill(self, setup, outcome):
        medians = {}
        for _ in range(setup.rounds):
            frames = 60 if setup.quick else 300
            for one in objects(run([setup.programs / "bench_interface_frames", "--frames", frames])[0]):
                medians.setdefault((one["page"], one["width"], one["height"]), []).append(one["median_ms"])
        slowest = max(medians, key=lambda key: statistics.median(medians[key]))
        outcome.set(medians[slowest], ", ".join(
            f"{page} at {width}x{height} {statistics.median(values):.2f}"
            for (page, width, height), values in medians.items()) + f" ms; slowest is {slowest[0]}")


class Start(Row):
    targets = ("device-lab",)

    def lines(self):
        return [Outcome("ms from start to first frame", 250, "150", least=False)]

    def fill(self, setup, outcome):
        first = []
        with desktop() as home:
            for _ in range(setup.rounds + 1):
                with open_window(setup.program, home) as (process, _):
                    first.append(1e3 * frame_stats(close_window(process))["first_frame_s"])
        outcome.set(first[1:], f"the first start, which also reads the files from disk: {first[0]:.0f} ms")


class Input(Row):
    targets = ("device-lab",)
    motions = 20

    def lines(self):
        return [Outcome("ms from a pointer motion to its pixel while a product is timed", 250, "60",
                        least=False)]

    def fill(self, setup, outcome):
        medians, longest = [], []
        for _ in range(setup.rounds):
            with desktop() as home:
                seen = timed_widgets(setup.program, home)
                with timing_window(setup.program, home, seen):
                    display = Display()
                    times = sorted(self.latency_ms(display, seen["rail/log"])
                                   for _ in range(self.motions))
            medians.append(statistics.median(times))
            longest.append(times[-1])
        outcome.set(medians, f"longest of {self.motions} per round: {statistics.median(longest):.0f} ms")

    @staticmethod
    def latency_ms(display, item):
        """From the pointer's arrival on an item of the rail to its highlight."""
        x, y = map(round, middle(item))
        edge = round(item["x"] + item["width"] - 6), round(item["y"] + item["height"] / 2)
        display.move(700, 30)
        time.sleep(0.7 + 0.013 * (time.monotonic_ns() % 17))  # at no fixed phase of the frames
        before = display.pixel(*edge)
        begin = time.monotonic()
        display.move(x, y)
        while display.pixel(*edge) == before:
            if time.monotonic() > begin + 5:
                raise NotRun("the item of the rail does not react to the pointer")
            time.sleep(0.001)
        return 1e3 * (time.monotonic() - begin)


class Idle(Row):
    targets = ("device-lab",)

    def lines(self):
        return [Outcome("CPU time of the idle window's thread, share of a core", 0.005, "0.001",
                        least=False)]

    def fill(self, setup, outcome):
        seconds = 5 if setup.quick else 30
        shares, others = [], []
        for _ in range(setup.rounds):
            with desktop() as home, shown(setup.program, home, "devices") as (process, _):
                time.sleep(5)
                begin = threads_s(process.pid)
                time.sleep(seconds)
                spent = {thread: s - begin.get(thread, (name, 0))[1]
                         for thread, (name, s) in threads_s(process.pid).items()}
                shares.append(spent.pop(process.pid) / seconds)
                others.append(sum(spent.values()) / seconds)
                close_window(process)
        outcome.set(shares, f"its other threads, drawing in software included: "
                            f"{statistics.median(others):.2%} of a core")


class Training(Row):
    targets = ("device-lab",)

    def lines(self):
        return [Outcome("CPU time of the window's thread while it shows LeNet training, share of a core",
                        0.03, "0.01", least=False)]

    def fill(self, setup, outcome):
        seconds = 5 if setup.quick else 20
        with contextlib.ExitStack() as stack:
            home = stack.enter_context(desktop())
            outcome.set([watch_training(setup.program, home, "LeNet", seconds)["window"] / seconds
                         for _ in range(setup.rounds)], "")


class Memory(Row):
    targets = ("device-lab", "bench_interface_frames")

    def lines(self):
        return [Outcome("MiB that a training of a million steps adds to the window", 150, "100",
                        least=False),
                Outcome("MiB per hour that live plots add after two hours", 0, "0", least=False)]

    def fill(self, setup, outcome):
        if "live plots" in outcome.work:
            hours = [one["added_mib"] for one in objects(run(
                [setup.programs / "bench_interface_frames", "--hours", 4])[0])]
            outcome.set([statistics.mean(hours[2:])] * setup.rounds,
                        f"in the first two hours {sum(hours[:2]):.1f} MiB; data, without the window")
            return
        steps = 100_000 if setup.quick else 1_000_000
        added, total = [], []
        for _ in range(setup.rounds):
            with desktop() as home:
                begin, end = resident_of_training(setup.program, home, steps)
            added.append((end - begin) / MIB)
            total.append(end / MIB)
        outcome.set(added, f"{steps:,} steps; in all {statistics.median(total):.0f} MiB, with software "
                           "rendering")


def resident_of_training(program, home, steps):
    """Resident bytes of the window before a training of softmax, and when it has ended."""
    playing_s = 900
    script = [
        {"click": "rail/training"},
        {"set": "training/model", "value": "Softmax"},
        {"set": "training/batch", "value": "1"},
        {"set": "training/synthetic_train", "value": "10000"},
        {"set": "training/synthetic_test", "value": "100"},
        {"set": "training/epochs", "value": str(steps // 10_000)},
        {"wait": 1}, {"describe": "before.json"}, {"wait": 2},
        {"click": "training/start"},
        {"wait_for": "status/cancel"},
        {"wait": "idle", "timeout": playing_s},
        {"describe": "after.json"}, {"wait": 60}]
    resident = []
    with playing(program, home, script) as process:
        for described in ("before.json", "after.json"):
            wait_for_file(process, home.file(described), playing_s + 60)
            resident.append(resident_bytes(process.pid))
    return resident


def resident_bytes(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", text, re.MULTILINE).group(1))


ROWS = {"frame": Frame(), "start": Start(), "input": Input(), "idle": Idle(), "training": Training(),
        "memory": Memory()}


def main():
    options = parser(__doc__, ROWS)
    options.set_defaults(statistic="median")
    return compare(options.parse_args(), ROWS, list)


if __name__ == "__main__":
    sys.exit(main())
