#!/usr/bin/python3
"""End-to-end tests of the window on a virtual display: pages, jobs, images, exports, faults.

    window_test.py PROGRAM CASE

Runs one case on its own display. Exit status 77: skipped, with the reason printed.
"""

import csv
import json
import os
import pathlib
import shutil
import sys
import time

from lab_program import Picture, check, middle, run, run_case_on_display, run_script, widgets
from window_user import (
    PAGES,
    SIZE,
    click,
    close_window,
    eventually,
    open_window,
    screen,
    visible_window,
    wait_for,
    xdotool,
)

DARK_PAGE, LIGHT_PAGE = (0x0F, 0x12, 0x16), (0xF5, 0xF6, 0xF8)


# --- cases ------------------------------------------------------------------------------------


def case_pages(program, home):
    """A real click opens each page, and its content differs from the previous page's."""
    described = home.file("ui.json")
    result = run(program, home, "--size", SIZE, "--describe-ui", described)
    check(result.returncode == 0, result.stderr)
    rail = widgets(described)
    with open_window(program, home) as (process, window):
        xdotool("windowmove", window, 0, 0)
        time.sleep(0.5)
        before = None

        def shown():
            picture = screen(home, f"{page}.png")
            check(picture.share(DARK_PAGE) > 0.02, f"{page}: the page colour is missing")
            check(len(picture.colors()) > 20, f"{page}: looks blank")
            check(picture.rows[60:700] != before, f"{page} looks like the page before it")
            return picture.rows[60:700]

        for page in PAGES:
            click(middle(rail[f"rail/{page}"]))
            xdotool("mousemove", 640, 26)
            before = eventually(shown)
        close_window(process)
    check(home.settings()["view"]["page"] == "log", "the last page was not remembered")


def case_resize(program, home):
    """The interface fills the window at every size and the size is remembered."""
    with open_window(program, home) as (process, window):
        for width, height in ((900, 640), (1400, 900)):
            xdotool("windowsize", "--sync", window, width, height)
            xdotool("windowmove", window, 0, 0)

            def filled():
                picture = screen(home, "resized.png")
                for x, y in ((3, 3), (width - 3, 3), (3, height - 3), (width - 3, height - 3)):
                    check(picture.pixel(x, y) != (0, 0, 0), f"nothing is drawn at {x},{y}")
                check(picture.share(DARK_PAGE) > 0.02, "the page colour is missing")

            eventually(filled)
        close_window(process)
    size = home.settings()["window"]
    check((size["width"], size["height"]) == (1400, 900), f"remembered {size}")


def case_looks(program, home):
    """Theme and scale affect the pixels and are remembered."""
    for theme, color in (("dark", DARK_PAGE), ("light", LIGHT_PAGE)):
        file = home.file(f"{theme}.png")
        result = run(program, home, "--theme", theme, "--size", SIZE, "--screenshot", file)
        check(result.returncode == 0, result.stderr)
        picture = Picture(file)
        check((picture.width, picture.height) == (1280, 800), f"{picture.width}x{picture.height}")
        check(picture.share(color) > 0.1, f"{theme}: the page colour is missing")
        check(len(picture.colors()) > 20, f"{theme}: looks blank")
    rails = []
    for scale in ("1", "2"):
        described = home.file(f"scale{scale}.json")
        run(program, home, "--scale", scale, "--size", "1600x1000", "--describe-ui", described)
        rails.append(widgets(described)["rail/devices"]["height"])
    check(abs(rails[1] / rails[0] - 2) < 0.1, f"the rail did not double: {rails}")
    with open_window(program, home, "--scale", "1.5", "--theme", "light") as (process, _):
        time.sleep(1)
        close_window(process)
    view = home.settings()["view"]
    check(float(view["scale"]) == 1.5 and view["theme"] == "light", f"remembered {view}")


def case_language(program, home):
    """The language is chosen from the rail, takes effect at once or after the job, is remembered."""
    run_script(
        program,
        home,
        [
            {"click": "rail/language"},
            {"describe": str(home.file("menu.json"))},
            {"click": "rail/language/vi"},
            {"click": "rail/devices"},
            {"describe": str(home.file("vi.json"))},
        ],
    )
    menu = widgets(home.file("menu.json"))
    shown = {name: menu[f"rail/language/{name}"]["label"] for name in ("en", "zh", "ja", "vi")}
    check(shown["vi"] == "Tiếng Việt", f"offers {shown}")
    check("devices/machine" in widgets(home.file("vi.json")), "no page after the choice")
    for args, remembered in (((), None), (("--language", "vi"), "vi"), ((), "vi")):
        with open_window(program, home, *args) as (process, _):
            time.sleep(1)
            close_window(process)
        language = home.settings()["view"].get("language")
        check(language == remembered, f"{args}: remembered {language}")
    run_script(
        program,
        home,
        [
            {"click": "rail/training"},
            {"set": "training/model", "value": "ResNet-18"},
            {"click": "training/start"},
            {"wait_for": "status/cancel"},
            {"click": "rail/language"},
            {"click": "rail/language/vi"},
            {"wait": 0.3},
            {"describe": str(home.file("busy.json"))},
            {"click": "status/cancel"},
            {"wait": "idle", "timeout": 60},
            {"wait": 0.3},
            {"describe": str(home.file("ended.json"))},
        ],
        "--language",
        "en",
    )
    busy, ended = (widgets(home.file(f"{n}.json"))["rail/training"]["label"] for n in ("busy", "ended"))
    check(busy == "Training", f"the language changed while a job ran: {busy}")
    check(ended != busy, "the language did not change after the job")


def case_matmul(program, home):
    """A sweep completes and its curves can be saved."""
    result = run_script(
        program,
        home,
        [
            {"click": "rail/matmul"},
            {"set": "matmul/sizes", "value": "64,128"},
            {"set": "matmul/budget", "value": "0.05"},
            {"click": "matmul/run"},
            {"wait": "idle", "timeout": 90},
            {"hover": ""},
            {"screenshot": "matmul.png"},
            {"right_click": "matmul/plot/gflops"},
            {"click": "matmul/plot/gflops/menu/save-csv"},
            {"click": "save/yes"},
            {"right_click": "matmul/plot/gflops"},
            {"click": "matmul/plot/gflops/menu/save-png"},
            {"click": "save/yes"},
            {"wait": 0.5},
            {"hover": ""},
            {"wait": 0.5},
        ],
        "--size",
        SIZE,
    )
    with open(home.file("matmul-plot-gflops.csv"), encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    check(header[1] == "series" and header[3:] == ["low", "high"], f"the CSV starts with {header}")
    sizes = {float(row[0]) for row in rows}
    check(sizes == {64, 128}, f"the CSV has sizes {sizes}")
    check(len(rows) >= 8, f"the CSV has {len(rows)} points")
    check(all(float(row[2]) > 0 for row in rows), "a speed is not positive")
    plot = Picture(home.file("matmul-plot-gflops.png"))
    check(plot.width > 300 and plot.height > 150, f"the plot is {plot.width}x{plot.height}")
    check(len(plot.colors(2)) > 20, "the saved plot looks blank")
    check(len(Picture(home.file("matmul.png")).colors()) > 50, f"looks blank; {result.stderr}")


def case_reference(program, home):
    """The script turns results into a reference, drawn next to new results; broken files are harmless."""
    results = home.file("results")
    results.mkdir()
    for name, *words in (
        ("devices", "devices"),
        ("matmul", "matmul", "--devices", "cpu:0", "--sizes", "64,128", "--kernels", "naive"),
        ("transfer", "transfer", "--from", "cpu:0", "--to", "cpu:0", "--sizes", "4KiB,16KiB"),
    ):
        with open(results / f"{name}.jsonl", "w", encoding="utf-8") as out:
            check(run(program, home, *words, "--json", stdout=out).returncode == 0, f"{name} failed")
    script = pathlib.Path(__file__).resolve().parents[1] / "gpu/reference.py"
    made = ["--name", "Yesterday", "--date", "2026-01-31", "--lab", "0.1.0", "--cache", "warm"]
    result = run(sys.executable, home, "-B", script, *made, results, "yesterday.json")
    check(result.returncode == 0, result.stderr)
    own = home.file("data/device-lab/reference")
    own.mkdir(parents=True)
    (own / "broken.json").write_text('{"type": "machine", "format": 1, "name": ')
    shutil.copy(home.file("yesterday.json"), own / "second.json")
    run_script(
        program,
        home,
        [
            {"click": "rail/matmul"},
            {"set": "matmul/sizes", "value": "64,128"},
            {"set": "matmul/budget", "value": "0.05"},
            {"click": "matmul/run"},
            {"wait": "idle", "timeout": 90},
            {"describe": "chosen.json"},
            {"set": "matmul/reference", "value": "none"},
            {"describe": "none.json"},
            {"click": "rail/transfers"},
            {"set": "transfers/sizes", "value": "4KiB,16KiB"},
            {"set": "transfers/budget", "value": "0.02"},
            {"click": "transfers/run"},
            {"wait": "idle", "timeout": 90},
            {"set": "transfers/reference", "value": "Yesterday, second.json"},
            {"describe": "second.json"},
        ],
        "--reference",
        "yesterday.json",
        "--size",
        SIZE,
    )
    legend = "matmul/plot/gflops/legend/Reference: Yesterday"
    chosen, none, second = (widgets(home.file(f"{n}.json")) for n in ("chosen", "none", "second"))
    check(chosen["matmul/reference"]["value"] == "Yesterday, yesterday.json", "the file is not chosen")
    check(legend in chosen and legend not in none, "the curve does not follow the choice")
    check("transfers/plot/bandwidth/legend/Reference: Yesterday" in second, "the transfers have no reference")


def case_train(program, home):
    """LeNet learns for one epoch on a small synthetic set; its weights are saved, and loaded as asked."""
    home.write_settings({"training.more": "1"})
    run_script(
        program,
        home,
        [
            {"click": "rail/training"},
            {"set": "training/model", "value": "LeNet"},
            {"set": "training/epochs", "value": "1"},
            {"set": "training/synthetic_train", "value": "1024"},
            {"set": "training/synthetic_test", "value": "256"},
            {"set": "training/save_file", "value": "lenet.safetensors"},
            {"click": "training/start"},
            {"wait": "idle", "timeout": 60},
            {"hover": ""},
            {"screenshot": "trained.png"},
            {"describe": "trained.json"},
            {"set": "training/save_file", "value": ""},
            {"set": "training/init_file", "value": "none.safetensors"},
            {"click": "training/start"},
            {"wait": "idle", "timeout": 60},
            {"wait_for": "training/error", "timeout": 60},
            {"describe": "missing.json"},
            {"set": "training/init_file", "value": "lenet.safetensors"},
            {"set": "training/save_file", "value": "/nonexistent/lenet.safetensors"},
            {"click": "training/start"},
            {"wait": "idle", "timeout": 60},
            {"wait_for": "training/error", "timeout": 60},
            {"describe": "unwritable.json"},
        ],
        "--size",
        "1600x1700",
    )
    weights = home.file("lenet.safetensors").read_bytes()
    length = int.from_bytes(weights[:8], "little")
    check("net.0.weight" in weights[8 : 8 + length].decode(), "the weights were not saved by name")
    for name, path in (("missing", "none.safetensors"), ("unwritable", "/nonexistent/lenet.safetensors")):
        error = widgets(home.file(f"{name}.json"))["training/error"]["label"]
        check(path in error, f"the error does not name {path}: {error!r}")
    seen = widgets(home.file("trained.json"))
    for path in ("training/plot/loss", "training/plot/accuracy", "training/summary"):
        check(path in seen, f"{path} is not visible after training: {sorted(seen)}")
    check(seen["training/start"]["enabled"], "the next training cannot be started")
    check(len(Picture(home.file("trained.png")).colors()) > 50, "the page looks blank")


def case_learn(program, home):
    """Every lesson is measured from its page and ends with its sentence; sequences are stepped through."""
    listed = [json.loads(line) for line in run(program, home, "lesson", "--json").stdout.splitlines()]
    lessons = [one for one in listed if one["type"] == "lesson"]
    steps, track = [{"click": "rail/learn"}], "devices"
    for lesson in lessons:
        if lesson["name"] == "crossover":  # needs a device of several cores
            continue
        if lesson["track"] != track:
            steps.append({"click": "learn/track/Several devices"})
            track = lesson["track"]
        steps.append({"click": f"learn/dot/{lesson['name']}"})
        if lesson["choices"]:
            steps.append({"click": "learn/choice/1"})
        steps += [
            {"click": "learn/measure"},
            {"wait": "idle", "timeout": 240},
            {"wait_for": "learn/sentence_text"},
        ]
        if lesson["name"] in ("speedup", "accuracy"):  # beside the runs that the book recorded
            steps.append({"wait_for": "learn/strips"})
        if lesson["name"] == "devices":
            steps.append({"expect": "learn/map/cpu:1"})
        if lesson["name"] == "equal":
            steps += [
                {"wait_for": "learn/scrub"},  # directly below the sentence
                {"expect": "learn/scrub", "value": "1/7"},
                {"key": "space"},
                {"expect": "learn/scrub", "value": "2/7"},
                {"click": "learn/step"},
                {"click": "learn/step"},
                {"click": "learn/parameter/net.3.bias"},
                {"expect": "learn/row/1"},
                {"scroll": 100, "at": "learn/player"},
            ]
    steps += [{"click": "learn/free"}, {"click": "title/back"}, {"wait_for": "learn/measure"}]
    run_script(program, home, steps, "--cpu-devices", "2", "--size", "1600x1200", timeout=400)


def case_emulated(program, home):
    """Emulated GPUs have a card, hold tensors, and train."""
    run_script(
        program,
        home,
        [
            {"click": "rail/devices"},
            {"describe": "devices.json"},
            {"screenshot": "devices.png"},
            {"click": "rail/memory"},
            {"set": "memory/device", "value": "emu:0"},
            {"set": "memory/shape", "value": "64,64"},
            {"click": "memory/make"},
            {"wait": "idle", "timeout": 20},
            {"screenshot": "memory.png"},
            {"describe": "memory.json"},
            {"click": "rail/training"},
            {"set": "training/model", "value": "LeNet"},
            {"set": "training/batch", "value": "8"},
            {"set": "training/epochs", "value": "1"},
            {"set": "training/synthetic_train", "value": "64"},
            {"set": "training/synthetic_test", "value": "16"},
            {"click": "training/device/emu:0"},
            {"click": "training/device/emu:1"},
            {"click": "training/start"},
            {"wait": "idle", "timeout": 120},
            {"hover": ""},
            {"describe": "training.json"},
            {"screenshot": "training.png"},
            {"scroll": -4, "at": "training/x_axis/Epoch"},
            {"describe": "below.json"},
        ],
        "--emulated-gpus",
        "2",
        "--size",
        SIZE,
    )
    cards = widgets(home.file("devices.json"))
    check("devices/list/emu:0" in cards and "devices/list/emu:1" in cards, f"{sorted(cards)}")
    seen = widgets(home.file("training.json"))
    check("training/error" not in seen, seen.get("training/error"))
    check("training/plot/loss" in seen, "the loss is not shown")
    times = widgets(home.file("below.json"))["training/devices/sentence"]["label"]
    check("never timed" in times, f"the page shows times of emulated GPUs: {times}")


def case_emulated_stop(program, home):
    """Stop ends a step and an evaluation that emulated GPUs would compute for minutes, and so does closing the window.
    The status bar shows the evaluation."""
    running = [{"click": "training/start"}, {"wait_for": "status/cancel"}]
    stopped = [{"click": "status/cancel"}, {"wait": "idle", "timeout": 10}]
    wide = [{"set": "training/model", "value": "ResNet-18"}, {"set": "training/batch", "value": "64"}]
    steps = [
        {"click": "rail/training"},
        *wide,
        {"set": "training/synthetic_train", "value": "64"},
        {"click": "training/device/emu:0"},
        {"click": "training/device/cpu:0"},
        *running,
        {"wait": 5},
        *stopped,
        {"set": "training/model", "value": "LeNet"},
        {"set": "training/batch", "value": "64"},
        *running,
        {"wait": 8},
        {"describe": "test.json"},
        *stopped,
        {"describe": "stopped.json"},
        *wide,
        *running,
        {"wait": 5},
    ]
    run_script(program, home, steps, "--emulated-gpus", "1", "--size", SIZE, timeout=90)
    seen = widgets(home.file("test.json"))
    check("of 10000 test images" in seen["status/job"]["label"], seen["status/job"]["label"])
    check("training/error" not in widgets(home.file("stopped.json")), "the stop is shown as an error")


def case_scaling(program, home):
    """Two devices are measured and sixteen predicted, then predicted again for another link. The step time is
    typed in: a prediction from one that was measured beside other programs may be withheld."""
    home.write_settings({"scaling.more": "1", "scaling.accuracy_steps": "4"})
    run_script(
        program,
        home,
        [
            {"click": "rail/scaling"},
            {"set": "scaling/model", "value": "Softmax"},
            {"set": "scaling/batch", "value": "64"},
            {"set": "scaling/steps", "value": "4"},
            {"set": "scaling/rounds", "value": "1"},
            {"set": "scaling/compute_time", "value": "Typed in"},
            {"set": "scaling/link", "value": "NVLink 4"},
            {"click": "scaling/run"},
            {"wait": "idle", "timeout": 60},
            {"hover": ""},
            {"screenshot": "scaling.png"},
            {"describe": "measured.json"},
            {"set": "scaling/link", "value": "PCIe 3.0"},
            {"click": "scaling/predict"},
            {"wait": "idle", "timeout": 20},
            {"describe": "predicted.json"},
        ],
        "--cpu-devices",
        "2",
        "--size",
        "1600x1200",
    )
    measured = widgets(home.file("measured.json"))
    # For devices that share a core no speed-up is shown; the plot marks them instead.
    devices = run(program, home, "devices", "--json").stdout
    if len(json.loads(devices.splitlines()[0])["cores"]) >= 2:
        figures = ["figure/speedup", "figure/efficiency"]
    else:
        figures = ["plot/speedup/legend/more devices than cores"]
    for path in (*figures, "plot/speedup", "steps/1", "steps/2"):
        check(f"scaling/{path}" in measured, f"{path} is not visible: {sorted(measured)}")
    check("over NVLink 4" in measured["scaling/prediction"]["label"], "no prediction is shown")
    check("scaling/model_error" in measured, "the model is not compared with the measurement")
    predicted = widgets(home.file("predicted.json"))
    check("over PCIe 3.0" in predicted["scaling/prediction"]["label"], "the link has no effect")
    for path in figures:
        check(f"scaling/{path}" in predicted, "the measured points disappeared")
    check(len(Picture(home.file("scaling.png")).colors()) > 50, "the page looks blank")


def case_devices(program, home):
    """Two devices train on one batch; the page shows how each one spends its time."""
    run_script(
        program,
        home,
        [
            {"click": "rail/training"},
            {"set": "training/epochs", "value": "1"},
            {"set": "training/synthetic_train", "value": "2048"},
            {"set": "training/synthetic_test", "value": "256"},
            {"click": "training/device/cpu:0"},
            {"click": "training/device/cpu:1"},
            {"click": "training/division/By list"},
            {"set": "training/shares", "value": "3"},
            {"wait_for": "training/shares_error"},
            {"set": "training/shares", "value": "3, 1"},
            {"click": "training/start"},
            {"wait": "idle", "timeout": 60},
            {"scroll": -4, "at": "training/x_axis/Epoch"},
            {"describe": "devices.json"},
        ],
        "--size",
        "1600x1000",
        "--cpu-devices",
        "2",
    )
    seen = widgets(home.file("devices.json"))
    check("all-reduce" in seen["training/devices/sentence"]["label"], "the all-reduce is not assessed")
    for device, share in (("cpu:0", "75 %"), ("cpu:1", "25 %")):
        row = seen[f"training/devices/0/{device}"]["value"]
        check(row.endswith(share), f"{device} shows '{row}' for a share of {share}")


def case_cancel(program, home):
    """A real click on Stop ends a long training run; the next job runs."""
    start = [
        {"click": "rail/training"},
        {"set": "training/model", "value": "ResNet-18"},
        {"click": "training/start"},
        {"wait_for": "status/cancel"},
        {"describe": "running.json"},
        {"click": "status/cancel"},
        {"wait": "idle", "timeout": 60},
        {"wait_for": "training/stopped"},
        {"set": "training/model", "value": "Softmax"},
        {"describe": "stopped.json"},
    ]
    run_script(program, home, start, "--size", SIZE)
    running, stopped = (widgets(home.file(f"{n}.json")) for n in ("running", "stopped"))
    check(stopped["training/start"]["enabled"], "no training can be started after a stop")
    home.write_settings({"page": "training", "training.model": "resnet18"})
    with open_window(program, home) as (process, window):
        xdotool("windowmove", window, 0, 0)
        time.sleep(0.5)
        x, y = middle(running["status/cancel"])

        def at_stop():
            return screen(home, "stop.png").pixel(x - 24, y)

        without = at_stop()
        click(middle(stopped["training/start"]))
        eventually(lambda: check(at_stop() != without, "there is no Stop button"))
        click((x, y))
        xdotool("mousemove", 640, 26)
        eventually(lambda: check(at_stop() == without, "the Stop button did not disappear"))
        close_window(process)


def case_faults(program, home):
    """Invalid scripts, files and displays give a one-line message and the right exit status."""

    def complains(result, status, *parts):
        text = result.stderr
        check(result.returncode == status, f"status {result.returncode} for {parts}: {text}")
        check(text.count("\n") == 1, f"not one line: {text!r}")
        for part in parts:
            check(part in text, f"{part!r} is missing in {text!r}")

    script = home.file("bad.jsonl")
    script.write_text('{"click": "rail/matmull", "timeout": 0.5}\n')
    complains(run(program, home, "--script", script), 1, "line 1", "rail/matmull", "rail/matmul'")
    script.write_text('\n{"klick": "rail/matmul"}\n')
    complains(run(program, home, "--script", script), 1, "line 2", "double_click")
    complains(run(program, home, "--script", "none.jsonl"), 1, "none.jsonl")
    complains(run(program, home, "--screenshot", "/nonexistent/a.png"), 1, "/nonexistent/a.png")
    complains(run(program, home, "--screenshot", "/dev/full"), 1, "No space left")
    complains(run(program, home, "--describe-ui", home.path), 1, "directory")
    check(not list(home.path.glob("**/*.part")), "a partial file was left")

    env = dict(home.env)
    env.pop("DISPLAY", None)
    env.pop("WAYLAND_DISPLAY", None)
    complains(run(program, home, env=env), 1, "cannot open a display", "device-lab tour", "xvfb-run")
    pipe = home.file("authority")
    os.mkfifo(pipe)
    env = dict(home.env, XAUTHORITY=str(pipe))
    complains(run(program, home, env=env), 1, "XAUTHORITY", "a pipe, not a regular file")
    env = dict(home.env, MESA_GL_VERSION_OVERRIDE="2.1")
    complains(run(program, home, env=env), 1, "OpenGL 3.3", "device-lab tour")


def case_settings(program, home):
    """A broken or unwritable settings file does not stop the window from opening."""
    file = home.path / "config/device-lab/settings.json"
    file.parent.mkdir(parents=True)
    file.write_text("{broken")
    with open_window(program, home, "--page", "log") as (process, _):
        time.sleep(1)
        close_window(process)
    check(home.settings()["view"]["page"] == "log", "the broken file was not replaced")
    shutil.rmtree(file.parent)
    file.parent.parent.rmdir()
    file.parent.parent.write_text("a file where the folder should be")
    with open_window(program, home) as (process, _):
        time.sleep(1)
        said = close_window(process)
    check("settings" in said, f"the unwritable settings were not reported: {said!r}")


def case_kept(program, home):
    """The results of a page outlast the program, also those of a job that is running when it closes; a
    damaged file is reported and replaced."""
    home.write_settings({"page": "matmul", "matmul.sizes": "64", "matmul.budget_s": "0.02"})
    kept = home.path / "data/device-lab/matmul.json"
    log = home.path / "data/device-lab/log.json"

    def session(body):
        with open_window(program, home) as (process, window):
            xdotool("windowmove", window, 0, 0)
            xdotool("windowfocus", "--sync", window)
            time.sleep(1)
            body()
            close_window(process)

    def measure():
        xdotool("key", "ctrl+Return")
        eventually(lambda: check(kept.exists(), "the ladder was not kept"))

    session(measure)
    written = kept.read_text()
    ladder = json.loads(written)["runs"]["sweep"]["current"]
    check(ladder["samples"] and ladder["measured"] > 0, f"nothing in the ladder: {written[:200]}")
    check(not list(kept.parent.glob("*.part*")), "a temporary file was left")
    session(lambda: None)
    check(kept.read_text() == written, "a session without a run changed the file")
    check("are lost" not in log.read_text(), f"the file was refused: {log.read_text()}")
    kept.write_text(written[: len(written) // 2])
    session(lambda: None)
    said = [line["text"] for line in json.loads(log.read_text())["lines"]]
    check(any("results of the page Matmul are lost" in text for text in said), f"not reported: {said}")

    home.write_settings({"page": "training", "training.model": "softmax", "training.epochs": "99999",
                         "training.synthetic_train": "2048", "training.synthetic_test": "64"})
    runs = kept.parent / "runs"

    def train():
        xdotool("key", "ctrl+Return")
        time.sleep(3)
        check(not list(runs.glob("*.json")), "the training has ended already")

    session(train)
    stopped = [json.loads(file.read_text()) for file in runs.glob("*.json")]
    check(len(stopped) == 1 and stopped[0]["steps"]["step"], "closing lost the running training")
    said = [line["text"] for line in json.loads(log.read_text())["lines"]]
    check(any("stopped on request" in text for text in said), f"not in the log: {said}")


def case_restart(program, home):
    """The page reports a lost GPU, and two clicks restart the program in the same process."""
    folder = home.file("lab")
    folder.mkdir()
    copy = shutil.copy(program, folder)
    shutil.copy(os.environ["LAB_FAKE_GPUS"], folder)
    home.env["LAB_FAKE_LOSES"] = "fill"
    home.write_settings({"page": "memory", "memory.device": "1"})
    steps = [
        {"click": "memory/make"},
        {"wait": "idle"},
        {"describe": "lost.json"},
        {"click": "memory/error/restart"},
        {"describe": "asked.json"},
        {"click": "restart/yes"},
        {"describe": "refused.json"},
    ]
    run_script(copy, home, steps, "--size", SIZE)
    refused = widgets(home.file("refused.json"))["memory/error/restart/refused"]["label"]
    check("a script is playing" in refused, f"the restart was not refused: {refused!r}")
    lost, asked = widgets(home.file("lost.json")), widgets(home.file("asked.json"))
    check("cuda:0 is lost" in lost["memory/error"]["label"], lost["memory/error"]["label"])
    with open_window(copy, home) as (process, window):
        xdotool("windowmove", window, 0, 0)
        time.sleep(1)
        click(middle(lost["memory/make"]))
        time.sleep(1)
        click(middle(lost["memory/error/restart"]))
        time.sleep(0.3)
        # The auxiliary vector holds addresses that the kernel randomises at each execve.
        image = pathlib.Path(f"/proc/{process.pid}/auxv")
        first = image.read_bytes()
        click(middle(asked["restart/yes"]))
        eventually(lambda: check(image.read_bytes() != first, "no execve"))
        time.sleep(1)  # until the first window has closed
        wait_for(lambda: visible_window(process))
        said = close_window(process)
    check(said.count('"type":"frames"') == 2, f"not two windows in one process: {said!r}")
    check(home.settings()["view"]["page"] == "memory", "the settings were not kept")


def frame_stats(said):
    stats = json.loads(next(line for line in said.splitlines() if '"frames"' in line))
    print(json.dumps(stats))
    return stats


START_NOISE = 20


def growth(run_for, short, long):
    """Frames, seconds and processor seconds of a run of `long` seconds minus those of a run of `short`
    seconds. The number of frames for opening and closing varies between runs on a busy machine, by far
    less than START_NOISE. All limits are upper limits, which other load on the machine cannot break.
    A difference of eight seconds is enough to detect a window that wrongly draws five frames/s."""
    first, second = run_for(short), run_for(long)
    return tuple(second[key] - first[key] for key in ("frames", "seconds", "cpu_s"))


def case_pace(program, home):
    """At most five frames/s during a measurement, none when hidden, at most 1.5 frames/s when idle."""

    def timing(seconds):
        steps = [
            {"click": "rail/matmul"},
            {"click": "matmul/tab/Live"},
            {"click": "matmul/live"},
            {"wait_for": "status/cancel"},
            {"wait": seconds},
            {"click": "status/cancel"},
            {"wait": "idle", "timeout": 20},
        ]
        return frame_stats(run_script(program, home, steps, "--size", SIZE, "--frame-stats").stderr)

    frames, seconds, _ = growth(timing, 1, 5)
    check(frames <= 5 * seconds + START_NOISE, f"{frames} frames in {seconds:.1f} s of timing")

    described = home.file("matmul.json")
    home.write_settings({"page": "matmul"})
    run(program, home, "--size", SIZE, "--describe-ui", described)
    start = middle(widgets(described)["matmul/run"])

    def hidden(seconds):
        with open_window(program, home) as (process, window):
            xdotool("windowmove", window, 0, 0)
            time.sleep(0.5)
            click(start)
            time.sleep(1)
            xdotool("windowunmap", "--sync", window)
            time.sleep(seconds)
            return frame_stats(close_window(process))

    frames, seconds, _ = growth(hidden, 1, 9)
    check(frames <= START_NOISE, f"{frames} frames in {seconds:.1f} s while hidden")

    def idle(seconds):
        with open_window(program, home) as (process, _):
            time.sleep(seconds)
            return frame_stats(close_window(process))

    home.write_settings({"page": "devices"})
    frames, seconds, cpu = growth(idle, 2, 10)
    check(frames <= 1.5 * seconds + START_NOISE, f"{frames} frames in {seconds:.1f} s without a job")
    print(f"{cpu / seconds:.1%} of a core without a job")  # no limit: the cost depends on the machine


def case_start(program, home):
    """The window reports the time of its first frame and draws few frames while nothing changes."""
    xdotool("mousemove", 1599, 999)  # outside the window: a tooltip that is about to appear draws
    with open_window(program, home) as (process, _):
        time.sleep(1.5)
        frames = frame_stats(close_window(process))
    check(frames["first_frame_s"] > 0, f"no first frame: {frames}")
    limit = 30 + 5 * frames["seconds"]
    check(frames["frames"] < limit, f"{frames['frames']} frames although nothing changed")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    sys.exit(run_case_on_display(CASES, *sys.argv[1:3]))
