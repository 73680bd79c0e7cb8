"""Load on the processor: busy processes for benchmarks, and the processor time that others take."""
import contextlib
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PERIOD_S = 0.02
# Both end with the process that starts them, however it ends.
SPIN = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""
SPIN_HALF = f"""
import os, time
parent, begin = os.getppid(), time.monotonic()
while os.getppid() == parent:
    used = time.process_time() + {PERIOD_S / 2}
    while time.process_time() < used and time.monotonic() < begin + {PERIOD_S}:
        pass
    begin += {PERIOD_S}
    time.sleep(max(0, begin - time.monotonic()))
    if time.monotonic() > begin + {PERIOD_S}:
        begin = time.monotonic()
"""


@contextlib.contextmanager
def _process(core, code, priority=None):
    """A process on one core. Without the right to raise its priority it keeps the normal one."""
    def place():
        os.sched_setaffinity(0, {core})
        if priority is not None:
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, 0, priority)

    process = subprocess.Popen([sys.executable, "-c", code], preexec_fn=place)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def busy_processes(cores):
    """Occupies each of the cores with a process of normal priority."""
    with contextlib.ExitStack() as stack:
        for core in cores:
            stack.enter_context(_process(core, SPIN))
        yield


@contextlib.contextmanager
def half_speed(core):
    """Takes half of each 20 ms of a core: a process of high priority with a CPU quota or, where cgroups
    cannot be created, one that sleeps half of the time. Yields a description."""
    with contextlib.ExitStack() as stack:
        try:
            group = stack.enter_context(_half_quota())
        except OSError as error:
            stack.enter_context(_process(core, SPIN_HALF, priority=-20))
            yield (f"core {core} half taken by a process that is busy half of the time, for lack of "
                   f"a CPU quota ({error.strerror})")
            return
        process = stack.enter_context(_process(core, SPIN, priority=-20))
        (group / "cgroup.procs").write_text(str(process.pid))
        yield f"core {core} half taken by a process with a CPU quota of 50 %"


@contextlib.contextmanager
def _half_quota():
    """A new control group with half of a core; raises OSError if there can be none."""
    parent, version = cpu_group(pathlib.Path("/proc/mounts").read_text(),
                                pathlib.Path("/proc/self/cgroup").read_text())
    group = pathlib.Path(parent) / f"device-lab-bench-{os.getpid()}"
    group.mkdir()
    period = round(1e6 * PERIOD_S)
    try:
        if version == 1:
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(period // 2))
        else:
            (group / "cpu.max").write_text(f"{period // 2} {period}")
        yield group
    finally:
        group.rmdir()


def cpu_group(mounts, own):
    """The folder of this process's control group for CPU time, and the version of its hierarchy, from
    the texts of /proc/mounts and /proc/self/cgroup. Raises OSError if there is none."""
    paths = {}
    for line in own.splitlines():
        number, controllers, path = line.split(":", 2)
        paths.update({name: path for name in controllers.split(",")} if number != "0" else {"": path})
    for line in mounts.splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpu" in options.split(",") and "cpu" in paths:
            return folder + paths["cpu"].rstrip("/"), 1
    # In a hybrid hierarchy version 2 has no controllers, and version 1 was found above.
    for line in mounts.splitlines():
        _, folder, kind = line.split()[:3]
        if kind == "cgroup2" and "" in paths:
            return folder + paths[""].rstrip("/"), 2
    raise OSError(0, "no control groups are mounted")


def busy_s(stat, cores):
    """Seconds for which the cores were not idle, stolen time included, from the text of /proc/stat."""
    total = 0
    for core, times in re.findall(r"^cpu(\d+) (.*)$", stat, re.MULTILINE):
        if int(core) in cores:
            user, nice, system, _, _, irq, softirq, steal, *_ = map(int, times.split())
            total += user + nice + system + irq + softirq + steal
    return total * TICK_S


def own_s():
    """CPU seconds of this process and of its children that have ended."""
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Others:
    """The share of the cores' time that other processes and the hypervisor took inside `with`. All
    children of this process must have been started and have ended inside."""

    def __init__(self, cores):
        self._cores, self.share = set(cores), 0.0

    def _now(self):
        stat = pathlib.Path("/proc/stat").read_text()
        return time.monotonic(), busy_s(stat, self._cores), own_s()

    def __enter__(self):
        self._begin = self._now()
        return self

    def __exit__(self, *_):
        seconds, busy, own = (end - begin for begin, end in zip(self._begin, self._now()))
        self.share = max(0.0, (busy - own) / (seconds * len(self._cores)))


def threads_s(pid):
    """{thread id: (name, CPU seconds)} of a process."""
    found = {}
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has ended
            found[int(stat.parent.name)] = thread_s(stat.read_text())
    return found


def thread_s(stat):
    """Name and CPU seconds of a thread, from the text of its stat file. A name may contain spaces and
    parentheses."""
    name, rest = stat[stat.index("(") + 1:].rsplit(")", 1)
    fields = rest.split()
    return name, (int(fields[11]) + int(fields[12])) * TICK_S
