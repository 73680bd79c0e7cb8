"""Runs device-lab like a user, and reads its output files."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Failure(AssertionError):
    """A failed check; the text states the expected and the actual result."""


class Skipped(Exception):
    """A case that this machine cannot run; the text states the reason."""


def check(condition, text):
    if not condition:
        raise Failure(text)


@contextlib.contextmanager
def own_display(screen="1600x1000"):
    """Starts a private X server and sets DISPLAY. The server picks its own number, because two xvfb-run
    started at the same time can pick the same one. -noreset: during a reset after the last window has
    closed, the next window could not open."""
    ready, told = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(told), "-noreset"]
        + ["-screen", "0", f"{screen}x24", "-nolisten", "tcp"],
        pass_fds=[told],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(told)
    try:
        with os.fdopen(ready) as number:
            os.environ["DISPLAY"] = ":" + number.readline().strip()
        check(os.environ["DISPLAY"] != ":", "Xvfb did not start")
        os.environ.pop("WAYLAND_DISPLAY", None)
        yield
    finally:
        server.terminate()
        server.wait(10)


class Home:
    """A temporary home, configuration and working directory, deleted on exit."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="lab-gui-"))
        self.env = dict(os.environ)
        self.env.update(
            HOME=str(self.path),
            XDG_CONFIG_HOME=str(self.path / "config"),
            XDG_DATA_HOME=str(self.path / "data"),
            XDG_RUNTIME_DIR=str(self.path),  # Wayland's library complains without it
            LIBGL_ALWAYS_SOFTWARE="1",
            LANGUAGE="en",
        )
        self.env.pop("LAB_DATA_DIR", None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        return self.path / name

    def settings(self):
        return json.loads((self.path / "config/device-lab/settings.json").read_text())

    def write_settings(self, view):
        folder = self.path / "config/device-lab"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"view": view}))


def run_case(cases, program, name):
    """Runs one case in its own Home; returns the exit status, 77 if it was skipped."""
    with Home() as home:
        try:
            cases[name](str(pathlib.Path(program).resolve()), home)
        except Failure as failure:
            print(f"{name}: {failure}", file=sys.stderr)
            return 1
        except Skipped as reason:
            print(f"skipped: {reason}")
            return 77
    return 0


def missing_tool(*tools):
    """The first of the tools that is not installed; None if all are."""
    return next((tool for tool in tools if shutil.which(tool) is None), None)


def run_case_on_display(cases, program, name):
    """Runs one case on its own display; returns the exit status."""
    tool = missing_tool("Xvfb", "xdotool", "import", "convert")
    if tool:
        print(f"skipped: {tool} is not installed")
        return 77
    with own_display():
        return run_case(cases, program, name)


def run(program, home, *args, timeout=60, env=None, **kwargs):
    return subprocess.run(
        [program, *map(str, args)],
        env=env or home.env,
        cwd=home.path,
        stdout=kwargs.pop("stdout", subprocess.PIPE),
        stderr=kwargs.pop("stderr", subprocess.PIPE),
        timeout=timeout,
        text=True,
        check=False,
        **kwargs,
    )


def run_script(program, home, steps, *args, timeout=100):
    """Plays the steps in the window; fails if the program fails."""
    script = home.file("script.jsonl")
    script.write_text("".join(json.dumps(step) + "\n" for step in steps))
    result = run(program, home, "--script", script, *args, timeout=timeout)
    check(result.returncode == 0, f"the script exited with {result.returncode}: {result.stderr}")
    return result


class Picture:
    """The pixels of an image file, decoded by ImageMagick."""

    def __init__(self, file):
        decoded = subprocess.run(
            ["convert", str(file), "-depth", "8", "ppm:-"], capture_output=True, timeout=30, check=False
        )
        check(decoded.returncode == 0, f"{file} cannot be decoded: {decoded.stderr}")
        kind, width, height, depth, pixels = decoded.stdout.split(maxsplit=4)
        check((kind, depth) == (b"P6", b"255"), f"{file}: unexpected {kind} {depth}")
        self.width, self.height = int(width), int(height)
        # Splitting strips leading pixels whose bytes are white space, so count from the end.
        stride = self.width * 3
        pixels = decoded.stdout[-stride * self.height :]
        self.rows = [pixels[y * stride : (y + 1) * stride] for y in range(self.height)]

    def pixel(self, x, y):
        at = int(x) * 3
        return tuple(self.rows[int(y)][at : at + 3])

    def colors(self, every=4):
        """Number of samples of each colour, on a grid of every `every`-th pixel."""
        counts = {}
        for row in self.rows[::every]:
            for x in range(0, self.width, every):
                color = row[x * 3 : x * 3 + 3]
                counts[color] = counts.get(color, 0) + 1
        return counts

    def share(self, color, every=4):
        """Fraction of samples within 3 levels per channel of this colour."""
        counts = self.colors(every)
        near = sum(
            count
            for sample, count in counts.items()
            if all(abs(a - b) <= 3 for a, b in zip(sample, color))
        )
        return near / sum(counts.values())


def widgets(file):
    """Returns {path: widget} from a file written by --describe-ui or a script's "describe"."""
    return {w["path"]: w for w in json.loads(pathlib.Path(file).read_text())["widgets"]}


def middle(widget):
    return (
        round(widget["x"] + widget["width"] / 2),
        round(widget["y"] + widget["height"] / 2),
    )
