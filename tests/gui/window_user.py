"""Uses the window like a person: real pointer, clicks and keys through xdotool, and pictures of the screen."""

import contextlib
import signal
import subprocess
import time

from lab_program import Failure, Picture, check

PAGES = ["tour", "learn", "devices", "memory", "transfers", "matmul", "training", "scaling", "log"]
SIZE = "1280x800"


def xdotool(*args):
    return subprocess.run(
        ["xdotool", *map(str, args)], capture_output=True, text=True, timeout=20, check=False
    ).stdout.strip()


@contextlib.contextmanager
def open_window(program, home, *args):
    """Opens the window like a user; yields the process and the X window id."""
    process = subprocess.Popen(
        [program, "--size", SIZE, "--frame-stats", *args],
        env=home.env,
        cwd=home.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, wait_for(lambda: visible_window(process))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def visible_window(process):
    if process.poll() is not None:
        raise Failure(f"the window exited with {process.returncode}: {process.stderr.read()}")
    return xdotool("search", "--onlyvisible", "--name", "^Device Lab$")


def close_window(process):
    """Ends the program like Ctrl-C in the terminal; returns its standard error."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    check(process.returncode == 130, f"status {process.returncode} after Ctrl-C: {err}")
    return err


def wait_for(ready, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = ready()
        if value:
            return value
        time.sleep(0.1)
    raise Failure(f"no window after {seconds} s")


def eventually(body, seconds=60):
    """Retries `body` until its checks hold, for at most `seconds`; returns its result."""
    end = time.monotonic() + seconds
    while True:
        try:
            return body()
        except Failure:
            if time.monotonic() > end:
                raise
        time.sleep(0.2)


def click(place):
    xdotool("mousemove", *place)
    time.sleep(0.15)
    xdotool("click", 1)
    time.sleep(0.3)


def screen(home, name):
    file = home.file(name)
    subprocess.run(["import", "-window", "root", "-depth", "8", f"png24:{file}"], timeout=20, check=True)
    return Picture(file)


def selected_pages(picture, rail):
    """The pages whose entry of the rail, one of `rail` by path, is drawn as selected or hovered."""
    selected = []
    for page in PAGES:
        entry = rail[f"rail/{page}"]
        y = entry["y"] + entry["height"] / 2
        if picture.pixel(entry["x"] + entry["height"] / 4, y) != picture.pixel(entry["x"] / 2, y):
            selected.append(page)
    return selected
