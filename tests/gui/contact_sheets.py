#!/usr/bin/python3
"""Puts pictures of all pages onto one sheet per number of CPU devices, window size, scale and theme.

    contact_sheets.py PROGRAM FOLDER [--devices 1,2,4] [--size 1280x720,1920x1080,2560x1440]
                      [--scale 1,1.5,2] [--theme dark,light]

For each number of devices, the program first measures a little of every page. Each combination starts
from a copy of these results and takes about half a minute. The sheets are named after the combination,
such as 2-devices-1280x720-scale-1.5-dark.png. Needs Xvfb, xdotool and ImageMagick.
"""

import argparse
import itertools
import pathlib
import shutil
import subprocess
import sys
import time

from lab_program import Failure, Home, check, missing_tool, own_display, run, widgets
from window_user import PAGES, close_window, eventually, open_window, screen, selected_pages, xdotool

SCREEN = "2600x1500"  # larger than the largest window
OUTSIDE = (2590, 1490)
COLUMNS, CELL = 3, 980  # pixels

# Short jobs of the pages that keep their results, and a file that is written when the job has ended.
FILLED = {
    "tour": "tour.json",
    "transfers": "transfers.json",
    "matmul": "matmul.json",
    "training": "runs/*.json",
    "scaling": "scaling.json",
}
SETTINGS = {
    "transfers.sizes": "4KiB,64KiB,1MiB",
    "transfers.budget_s": "0.02",
    "matmul.sizes": "64,128,256",
    "matmul.budget_s": "0.05",
    "training.model": "lenet",
    "training.data": "synthetic",
    "training.epochs": "2",
    "training.synthetic_train": "2048",
    "training.synthetic_test": "256",
    "scaling.model": "softmax",
    "scaling.data": "synthetic",
    "scaling.batch": "64",
    "scaling.steps": "4",
    "scaling.rounds": "1",
    "scaling.accuracy_steps": "4",
}


def open_page(window, page):
    xdotool("windowfocus", "--sync", window)
    xdotool("key", f"ctrl+{PAGES.index(page) + 1}")
    time.sleep(0.5)


def fill(program, home, devices):
    """Measures a little of every page that keeps its results."""
    home.write_settings({"page": "tour", **SETTINGS})
    kept = home.path / "data/device-lab"
    with open_window(program, home, "--cpu-devices", devices) as (process, window):
        time.sleep(1)
        for page, file in FILLED.items():
            open_page(window, page)
            xdotool("key", "ctrl+Return")
            eventually(lambda: check(list(kept.glob(file)), f"{page} was not measured"), seconds=240)
        close_window(process)


def take_pictures(program, home, look):
    """Takes a picture of every page; returns the files."""
    described = home.file("ui.json")
    result = run(program, home, *look, "--page", PAGES[-1], "--describe-ui", described)
    check(result.returncode == 0, result.stderr)
    rail = widgets(described)
    files = []
    with open_window(program, home, *look, "--page", PAGES[-1]) as (process, window):
        xdotool("windowmove", window, 0, 0)
        xdotool("mousemove", *OUTSIDE)
        for page in PAGES:
            open_page(window, page)

            def shown():
                pages = selected_pages(screen(home, "screen.png"), rail)
                check(pages == [page], f"{pages} instead of {page}")

            eventually(shown, seconds=20)
            if page in ("learn", "memory"):  # they keep no results
                xdotool("key", "ctrl+Return")
                time.sleep(2)
            time.sleep(0.5)
            files.append(home.file(f"{page}.png"))
            subprocess.run(["import", "-window", window, str(files[-1])], timeout=20, check=True)
        close_window(process)
    return files


def mount(files, sheet):
    arranged = ["-tile", f"{COLUMNS}x", "-geometry", f"{CELL}x+5+5", "-background", "gray50", "-depth", "8"]
    subprocess.run(["montage", *map(str, files), *arranged, str(sheet)], timeout=120, check=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    for name, values in (
        ("devices", "1,2,4"),
        ("size", "1280x720,1920x1080,2560x1440"),
        ("scale", "1,1.5,2"),
        ("theme", "dark,light"),
    ):
        parser.add_argument(f"--{name}", type=lambda text: text.split(","), default=values.split(","))
    return parser.parse_args()


def main():
    chosen = options()
    tool = missing_tool("Xvfb", "xdotool", "import", "convert", "montage")
    if tool:
        sys.exit(f"{tool} is not installed")
    program = chosen.program.resolve()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with own_display(SCREEN):
        for devices in chosen.devices:
            with Home() as filled:
                fill(program, filled, devices)
                for size, scale, theme in itertools.product(chosen.size, chosen.scale, chosen.theme):
                    sheet = chosen.folder / f"{devices}-devices-{size}-scale-{scale}-{theme}.png"
                    look = ["--cpu-devices", devices, "--size", size, "--scale", scale, "--theme", theme]
                    with Home() as home:
                        shutil.copytree(filled.path, home.path, dirs_exist_ok=True)
                        mount(take_pictures(program, home, look), sheet)
                    print(sheet, flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(str(failure))
