#!/usr/bin/python3
"""Several processes started by mpirun: which rank reports what, and how all of them end.

    ranks_test.py PROGRAM CASE
"""

import functools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

from lab_program import check, own_display, run_case

SKIPPED = 77
ENDED_WITHIN_S = 60  # ends a hang
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
# On one host, ranks share memory; Open MPI 5 prints warnings about TCP where it finds no network.
QUIET = {"OMPI_MCA_btl": "^tcp",
         "HWLOC_COMPONENTS": "-gl"}  # no connection to the X displays that other tests close
SMALL = ["train", "--model", "mlp", "--synthetic-train", "512", "--synthetic-test", "256",
         "--batch", "64", "--epochs", "2"]  # fmt: skip
ENDLESS = [*SMALL[:-1], "100000", "--no-eval", "--json"]


@functools.cache
def forwards_to_the_end():
    """Whether mpirun forwards what ranks print after it was signalled or a rank died; Open MPI 5
    does not."""
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True)
    return int(version.stdout.split("(Open MPI) ")[1].split(".")[0]) < 5


def alive(pid):
    """Whether the process exists and is not a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def one_command(home, apps):
    """Returns mpirun's arguments for ranks with different commands: a script that chooses by rank.
    Debian 13's mpirun (5.0.7) crashes on commands separated by ":"."""
    if len(apps) == 1:
        return [str(word) for word in apps[0]]
    script = home.file("rank.sh")
    lines = ["cd -- " + shlex.quote(str(folder)) + " && exec " + shlex.join(map(str, command))
             for folder, *command in apps]  # fmt: skip
    choices = "".join(f"{rank}) {line} ;;\n" for rank, line in enumerate(lines))
    script.write_text(f"case $OMPI_COMM_WORLD_RANK in\n{choices}esac\n")
    return ["-n", str(len(apps)), "sh", str(script)]


class Launch:
    """A running mpirun and its ranks. One app is mpirun's arguments; several are the folder and
    the command of each rank."""

    def __init__(self, home, *apps):
        self.began = time.monotonic()
        # Without a buffer: communicate() would lose what readline() has read ahead.
        self.mpirun = subprocess.Popen(
            [*MPIRUN, *one_command(home, apps)], env=home.env | QUIET, cwd=home.path, bufsize=0,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.pids = {}

    def ranks(self, count):
        """Waits until `count` ranks have started; returns {rank: pid}."""
        while len(self.pids) < count:
            check(time.monotonic() - self.began < 60, f"only {len(self.pids)} ranks started")
            check(self.mpirun.poll() is None, "mpirun ended early")
            time.sleep(0.05)
            for task in pathlib.Path(f"/proc/{self.mpirun.pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    environment = pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
                    for word in environment:
                        if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                            self.pids[int(word.partition(b"=")[2])] = int(child)
        return self.pids

    def wait_for_step(self):
        """Reads until rank 0 has printed a step; returns what it read."""
        seen = []
        while not any('"step"' in line for line in seen):
            seen.append(self.mpirun.stdout.readline().decode())
            check(seen[-1], f"ended early: {seen}")
        return "".join(seen)

    def end(self, within_s=60):
        """Returns status, standard output and standard error; fails if a rank is still running."""
        try:
            out, err = (text.decode() for text in self.mpirun.communicate(timeout=within_s))
        except subprocess.TimeoutExpired:
            for pid in [*self.pids.values(), self.mpirun.pid]:
                os.kill(pid, signal.SIGKILL)
            out, err = (text.decode() for text in self.mpirun.communicate(timeout=10))
            check(False, f"still running after {within_s} s: {out[-2000:]} {err}")
        deadline = time.monotonic() + within_s
        for rank, pid in self.pids.items():
            while alive(pid):
                check(time.monotonic() < deadline, f"rank {rank} is still running: {out} {err}")
                time.sleep(0.05)
        return self.mpirun.returncode, out, err


def launch(home, *apps, within_s=60):
    return Launch(home, *apps).end(within_s)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def case_leader(program, home):
    """Commands that do not support several processes print rank 0's results once."""
    status, out, err = launch(home, ["-n", 3, program, "version"])
    check(status == 0 and err == "", f"version: {status} {err!r}")
    check(out.count("device-lab ") == 1, f"version: {out!r}")
    status, out, _ = launch(home, ["-n", 2, program, "devices", "--json"])
    kinds = [one["type"] for one in objects(out)]
    check(status == 0 and kinds[-1] == "done" and kinds.count("done") == 1, f"devices: {kinds}")
    status, out, err = launch(home, ["-n", 2, program, "train", "--frobnicate"])
    check(status == 2 and err.count("--frobnicate") == 1, f"usage: {status} {err!r}")
    status, out, err = launch(home, ["-n", 2, program, "scaling"])
    check(status == 1 and err.count("without mpirun") == 1, f"scaling: {status} {err!r}")


def check_all_say(result, count, *parts):
    """Checks for status 1 or 2, and that each of `count` ranks prints a line with all parts."""
    status, _, err = result
    check(status in (1, 2), f"status {status}: {err}")
    lines = [line for line in err.splitlines() if all(part in line for part in parts)]
    check(len(lines) == count, f"{len(lines)} lines have {parts}: {err!r}")
    for rank in range(1, count):
        check(any(line.startswith(f"rank {rank} (") for line in lines), f"rank {rank}: {lines}")


def case_different(program, home):
    """If arguments or programs differ between ranks, every rank reports it."""
    one = [home.path, program, *SMALL]
    other = [*one[:-4], "--batch", "128", "--epochs", "2"]
    result = launch(home, one, one, other, within_s=ENDED_WITHIN_S)
    check_all_say(result, 3, "rank 2 (", "--batch 128", "--batch 64", "identically")
    result = launch(home, one, [home.path, program, "devices"], within_s=ENDED_WITHIN_S)
    check_all_say(result, 2, "rank 1 (", "'device-lab devices'", "'device-lab train'")
    result = launch(home, one, [*one, "--frobnicate"], within_s=ENDED_WITHIN_S)
    check_all_say(result, 2, "rank 1 (", "--frobnicate")
    copy = home.file("device-lab-copy")
    shutil.copy(program, copy)
    with copy.open("ab") as file:
        file.write(b"another program")
    result = launch(home, one, [home.path, copy, *SMALL], within_s=ENDED_WITHIN_S)
    check_all_say(result, 2, "rank 1 (", "different program", "SHA-256")


def case_same(program, home):
    """Two identical runs give bit-identical losses; the devices listed are those of all ranks."""

    def losses(ranks, *more):
        status, out, err = launch(home, ["-n", ranks, program, *SMALL, "--json", *more])
        check(status == 0, f"{ranks} ranks: status {status}: {err}")
        lines = objects(out)
        check(lines[-1]["type"] == "done" and err == "", f"{lines[-1]} {err!r}")
        return [one["loss"] for one in lines if one["type"] == "step"], lines[-1]

    first, end = losses(2)
    check(len(first) == 16 and end["devices"] == ["cpu:0"] * 2 and end["ranks"] == 2, f"{end}")
    check(losses(2)[0] == first, "a second run differs")
    many, end = losses(4, "--cpu-devices", "2", "--devices", "cpu:0,cpu:1")
    check(len(end["devices"]) == 8, f"{end}")
    for a, b in zip(first, many):
        check(abs(a - b) <= 1e-5 * abs(a), f"losses {first} and {many}")


def case_gpus(program, home):
    """Emulated GPUs of two ranks train as those of one process and as CPU devices, from a whitened
    first layer; a rank on a GPU and one on the CPU agree with them; weights of a file may be given
    to the first rank alone; an interrupt ends both."""
    train = [program, "train", "--model", "lenet", "--first-layer", "whitened", "--emulated-gpus",
             "2", "--synthetic-train", "8", "--synthetic-test", "4", "--batch", "4", "--lr", "0.05",
             "--steps", "2", "--json"]  # fmt: skip

    def losses(*apps):
        status, out, err = launch(home, *apps)
        check(status == 0, f"{apps}: status {status}: {err}")
        lines = objects(out)
        return [one["loss"] for one in lines if one["type"] == "step"], lines[-1]

    expected, _ = losses(["-n", 1, *train, "--cpu-devices", "2", "--devices", "cpu:0,cpu:1"])
    check(len(expected) == 2, f"{expected}")
    runs = {
        "one process": (["-n", 1, *train, "--devices", "emu:0,emu:1"],),
        "two ranks": (["-n", 2, *train, "--devices", "emu:0"],),
        "a GPU and a CPU": ([home.path, *train, "--devices", "emu:0"],
                            [home.path, *train, "--devices", "cpu:0"]),
        "a CPU and a GPU": ([home.path, *train, "--devices", "cpu:0"],
                            [home.path, *train, "--devices", "emu:1"]),
    }  # fmt: skip
    devices = {"two ranks": ["emu:0", "emu:0"], "a GPU and a CPU": ["emu:0", "cpu:0"],
               "a CPU and a GPU": ["cpu:0", "emu:1"]}  # fmt: skip
    for name, apps in runs.items():
        seen, done = losses(*apps)
        check(len(seen) == 2, f"{name}: {seen}")
        for a, b in zip(expected, seen):
            check(abs(a - b) <= 1e-5 * a, f"{name}: {seen}, not {expected}")
        check(done["devices"] == devices.get(name, ["emu:0", "emu:1"]), f"{name}: {done}")

    weights = home.file("weights.safetensors")
    losses(["-n", 1, *train, "--save", weights])
    on_cpu = [home.path, *train, "--devices", "cpu:0"]
    seen, _ = losses([*on_cpu, "--init", weights], on_cpu)
    check(len(seen) == 2 and seen[0] != expected[0], f"from a file: {seen}, drawn {expected}")

    endless = [*train[:-3], "--epochs", "100000", "--no-eval", "--json", "--devices"]
    started = Launch(home, [home.path, *endless, "emu:0"], [home.path, *endless, "cpu:0"])
    seen = started.wait_for_step()
    pids = started.ranks(2)
    os.kill(pids[0], signal.SIGINT)
    status, out, err = started.end(ENDED_WITHIN_S)
    check(status == 130, f"interrupted: status {status}: {err}")
    last = objects(seen + out)[-1]
    check(last["type"] == "error" and last["code"] == "cancelled", f"interrupted: {last} {err}")


def case_lesson(program, home):
    """The lesson about sums runs on all ranks, rank 0 reports it, other lessons run on rank 0 alone."""
    status, out, err = launch(home, ["-n", 3, program, "lesson", "allreduce", "--json"])
    check(status == 0 and err == "", f"status {status}: {err}")
    lines = objects(out)
    check([one["type"] for one in lines].count("done") == 1, f"{out}")
    check(all(one["passed"] for one in lines[-1]["checks"]), f"{lines[-1]}")
    series = [one["series"] for one in lines if one["type"] == "sample"]
    check(sum("rank" in name and " on " in name for name in series) == 3, f"{series}")
    frames = [one for one in lines if one["type"] == "frame" and one["sequence"] == "Ring"]
    check(len(frames) == 5 and len(frames[0]["rows"]) == 3, f"{frames}")
    status, out, err = launch(home, ["-n", 2, program, "lesson", "tensors", "--vary", "64", "--json"])
    check(status == 0 and objects(out)[-1]["lesson"] == "tensors", f"tensors: {status} {err!r}")


def case_killed(program, home):
    """Killing one rank ends all ranks, and the error names that rank."""
    started = Launch(home, ["-n", 3, program, *ENDLESS])
    pids = started.ranks(3)
    seen = started.wait_for_step()
    os.kill(pids[1], signal.SIGKILL)
    status, out, err = started.end(ENDED_WITHIN_S)
    check(status not in (0, 130), f"status {status}")
    if not forwards_to_the_end():
        check("rank 1" in err, f"mpirun does not name the rank: {err}")
        return
    last = objects(seen + out)[-1]
    check(last["type"] == "error" and "rank 1 (" in last["message"], f"{last} {err}")
    check("has died" in last["message"] and "has died" in err, f"{last} {err}")


def case_interrupted(program, home):
    """A signal to one rank or to mpirun shuts down all ranks cleanly."""
    for number, to in ((signal.SIGINT, 0), (signal.SIGTERM, 1), (signal.SIGTERM, "mpirun"),
                       (signal.SIGINT, "mpirun")):  # fmt: skip
        # Delay from SIGCONT to SIGTERM, and from SIGTERM to SIGKILL.
        seconds = 2 if number == signal.SIGINT else 1
        home.env["OMPI_MCA_odls_base_sigkill_timeout"] = str(seconds)
        started = Launch(home, ["-n", 2, program, *ENDLESS])
        pids = started.ranks(2)
        seen = started.wait_for_step()
        if to == 0:  # mpirun sends SIGCONT first, which must not end the run
            os.kill(pids[0], signal.SIGCONT)
            for _ in range(1000):  # more than a pipe buffers
                check(started.mpirun.stdout.readline(), "ended by SIGCONT")
        os.kill(started.mpirun.pid if to == "mpirun" else pids[to], number)
        status, out, err = started.end(ENDED_WITHIN_S)
        # mpirun returns its own status.
        check(status == 130 or (to == "mpirun" and status != 0), f"{to}: status {status}: {err}")
        if to == "mpirun" and not forwards_to_the_end():
            continue
        last = objects(seen + out)[-1]
        check(last["type"] == "error" and last["code"] == "cancelled", f"{to}: {last} {err}")
    del home.env["OMPI_MCA_odls_base_sigkill_timeout"]
    started = Launch(home, ["-n", 2, program, "devices", "--watch", "30"])
    pids = started.ranks(2)
    started.mpirun.stdout.readline()
    os.kill(pids[1], signal.SIGTERM)
    check(started.end(ENDED_WITHIN_S)[0] != 0, "devices --watch kept running")


def case_failed(program, home):
    """An error on one rank is reported by that rank and by rank 0, and ends all ranks."""
    here = home.file("here")
    here.mkdir()
    elsewhere = home.file("elsewhere")
    shutil.copytree(make_set(here), elsewhere / "set")
    shutil.rmtree(elsewhere / "set")
    words = [program, "train", "--data-dir", "set", "--model", "softmax", "--batch", "16", "--json"]
    result = Launch(home, [here, *words], [elsewhere, *words])
    status, out, err = result.end(ENDED_WITHIN_S + 10)
    check(status == 1, f"status {status}: {err}")
    last = objects(out)[-1]
    check(last["type"] == "error" and last["message"].startswith("rank 1 ("), f"{last} {err}")
    check("set" in last["message"], f"{last}")
    lines = [line for line in err.splitlines() if "rank 1 (" in line]
    check(len(lines) == 2, f"reported {len(lines)} times: {err!r}")


def make_set(folder):
    """Writes a small data set in Fashion-MNIST's format; returns its folder."""
    data = folder / "set"
    data.mkdir()
    for part in ("train", "t10k"):
        images = (3).to_bytes(1, "big") + (64).to_bytes(4, "big") + (28).to_bytes(4, "big") * 2
        (data / f"{part}-images-idx3-ubyte").write_bytes(bytes([0, 0, 8]) + images + bytes(64 * 784))
        labels = (1).to_bytes(1, "big") + (64).to_bytes(4, "big")
        (data / f"{part}-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8]) + labels + bytes(64))
    return data


def case_window(program, home):
    """Rank 0's window trains on all ranks, also after a failed run; closing it ends the other ranks."""
    if shutil.which("Xvfb") is None:
        print("skipped: Xvfb is missing")
        sys.exit(SKIPPED)
    steps = [
        {"click": "rail/training"},
        {"set": "training/epochs", "value": "1"},
        {"set": "training/synthetic_train", "value": "1024"},
        {"set": "training/synthetic_test", "value": "256"},
        {"click": "training/data/Fashion-MNIST"},
        {"set": "training/data_dir", "value": "nowhere"},
        {"click": "training/start"},
        {"wait": "idle", "timeout": 30},
        {"describe": "failed.json"},
        {"click": "training/data/Synthetic"},
        {"click": "training/start"},
        {"wait": "idle", "timeout": 30},
        {"scroll": -4, "at": "training/x_axis/Epoch"},
        {"describe": "trained.json"},
    ]
    script = home.file("script.jsonl")
    script.write_text("".join(json.dumps(step) + "\n" for step in steps))
    window = [program, "--size", "1600x1000", "--script", script]
    with own_display():
        home.env["DISPLAY"] = os.environ["DISPLAY"]
        status, _, err = launch(home, [home.path, *window], [home.path, program], within_s=100)
    check(status == 0, f"status {status}: {err}")
    check("training/error" in home.file("failed.json").read_text(), "no error is shown")
    check("training/devices/1/cpu:0" in home.file("trained.json").read_text(), "rank 1 did not train")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("skipped: mpirun is missing (package openmpi-bin)")
        sys.exit(SKIPPED)
    sys.exit(run_case(CASES, *sys.argv[1:3]))
