#!/usr/bin/python3
"""End-to-end tests of the pointer and the keyboard while something is timed, when a frame lasts 200 ms.

    input_test.py PROGRAM CASE

Runs one case on its own display. Exit status 77: skipped, with the reason printed.
"""

import contextlib
import json
import pathlib
import sys
import time

from lab_program import Picture, Skipped, check, middle, run, run_case_on_display, run_script, widgets
from window_user import (
    PAGES,
    SIZE,
    click,
    close_window,
    eventually,
    open_window,
    screen,
    selected_pages,
    visible_window,
    wait_for,
    xdotool,
)

PARKED = (640, 26)  # no control
CUT = 12  # pixels of a tooltip's rounded border


@contextlib.contextmanager
def timing_window(program, home, seen):
    """A window in which a live product is timed; `seen` are the widgets of the page Matmul before."""
    home.write_settings({"page": "matmul"})
    with open_window(program, home) as (process, window):
        xdotool("windowmove", window, 0, 0)
        xdotool("windowfocus", "--sync", window)
        time.sleep(1)
        click(middle(seen["matmul/tab/Live"]))
        click(middle(seen["matmul/live"]))
        xdotool("mousemove", *PARKED)
        stop = middle(seen["status/cancel"])

        def timed():
            picture = screen(home, "timed.png")
            red, green, _ = picture.pixel(stop[0] - 20, seen["status/cancel"]["y"])
            check(red > green + 20, "there is no Stop button: nothing is timed")

        eventually(timed)
        yield
        timed()
        close_window(process)


def timed_widgets(program, home, *steps):
    """The widgets of the page Matmul before and while a live product is timed, after `steps`."""
    run_script(
        program,
        home,
        [
            {"click": "rail/matmul"},
            {"describe": "ladder.json"},
            {"click": "matmul/tab/Live"},
            {"describe": "live.json"},
            {"click": "matmul/live"},
            {"wait_for": "status/cancel"},
            *steps,
            {"describe": "timed.json"},
            {"screenshot": "timed-script.png"},
            {"click": "status/cancel"},
            {"wait": "idle", "timeout": 20},
        ],
        "--size",
        SIZE,
    )
    seen = {}
    for name in ("timed", "ladder", "live"):  # a control that several have is where it is before
        seen.update(widgets(home.file(f"{name}.json")))
    return seen


def case_tooltip(program, home):
    """A tooltip appears over a pointer that has moved once and rests, while something is timed."""
    seen = timed_widgets(program, home, {"hover": "rail/help"}, {"wait_for": "tooltip"})
    tooltip = seen["tooltip"]
    left, top = round(tooltip["x"]) + CUT, round(tooltip["y"]) + CUT // 2
    right, bottom = round(tooltip["x"] + tooltip["width"]) - CUT, round(top + tooltip["height"]) - CUT

    def words(picture):
        return [picture.rows[y][3 * left : 3 * right] for y in range(top, bottom)]

    expected = words(Picture(home.file("timed-script.png")))
    with timing_window(program, home, seen):

        def appears():
            check(words(screen(home, "tooltip.png")) == expected, "no tooltip without further motion")

        for _ in range(3):
            check(words(screen(home, "before.png")) != expected, "a tooltip before the pointer moved")
            xdotool("mousemove", *middle(seen["rail/help"]))
            eventually(appears, seconds=10)
            xdotool("mousemove", *PARKED)
            time.sleep(1)


def case_taps(program, home):
    """Keys and clicks much shorter than a frame are not lost while something is timed."""
    seen = timed_widgets(program, home)

    def opens(page, how):
        def shown():
            pages = selected_pages(screen(home, "tap.png"), seen)
            check(pages == [page], f"{how}: {pages} instead of {page}")

        eventually(shown, seconds=10)

    with timing_window(program, home, seen):
        for number, page in enumerate(PAGES, 1):
            xdotool("key", "--delay", 0, f"ctrl+{number}")
            opens(page, f"Ctrl+{number}")
        for page in PAGES:
            place = middle(seen[f"rail/{page}"])
            xdotool("mousemove", *place, "click", "--delay", 0, 1, "mousemove", *PARKED)
            opens(page, f"a click on {page}")
        # GLFW takes a second press within a millisecond for an input method's copy of the first.
        xdotool("key", "--delay", 5, "ctrl+3", "ctrl+8")
        opens("scaling", "Ctrl+3 and Ctrl+8 within a frame")
    check(home.settings()["view"]["page"] == "scaling", "the last page was not remembered")


def case_split(program, home):
    """Two clicks split the CPU from the page Scaling: the program restarts in its process, and on that page."""
    listed = [json.loads(line) for line in run(program, home, "devices", "--json").stdout.splitlines()]
    devices = [one for one in listed if one["type"] == "device"]
    if len(devices) > 1:
        raise Skipped("the page Scaling offers no split beside a GPU")
    if len(devices[0]["cores"]) < 2:
        raise Skipped("one core cannot be split")
    steps = [
        {"click": "rail/scaling"},
        {"describe": "scaling.json"},
        {"click": "scaling/split"},
        {"describe": "asked.json"},
    ]
    run_script(program, home, steps, "--size", SIZE)
    before, asked = (widgets(home.file(f"{name}.json")) for name in ("scaling", "asked"))
    run_script(program, home, [steps[0], {"describe": "split.json"}], "--size", SIZE, "--cpu-devices", "2")
    after = widgets(home.file("split.json"))
    check("scaling/split" in before and "scaling/split" not in after, "two devices can be split")
    chip = middle(after["title/cpu:0"])  # left of that of one device
    check(chip[0] < before["title/cpu:0"]["x"], "the chips of one and of two devices overlap")
    home.write_settings({"page": "scaling"})
    with open_window(program, home) as (process, window):
        xdotool("windowmove", window, 0, 0)
        time.sleep(1)
        click(middle(before["scaling/split"]))
        # The auxiliary vector holds addresses that the kernel randomises at each execve.
        image = pathlib.Path(f"/proc/{process.pid}/auxv")
        first = image.read_bytes()
        click(middle(asked["restart/yes"]))
        eventually(lambda: check(image.read_bytes() != first, "no execve"))
        time.sleep(1)  # until the first window has closed
        xdotool("windowmove", wait_for(lambda: visible_window(process)), 0, 0)
        xdotool("mousemove", *PARKED)

        def returned():
            picture = screen(home, "returned.png")
            pages = selected_pages(picture, after)
            check(pages == ["scaling"], f"returned to {pages}")
            page_colour = picture.pixel(*PARKED)
            check(picture.pixel(chip[0], after["title/cpu:0"]["y"] + 4) != page_colour, "no second device")

        eventually(returned)
        said = close_window(process)
    check(said.count('"type":"frames"') == 2, f"not two windows in one process: {said!r}")
    view = home.settings()["view"]
    check(view["page"] == "scaling" and view["devices.cpu_devices"] == "2", f"remembered {view}")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    sys.exit(run_case_on_display(CASES, *sys.argv[1:3]))
