#!/usr/bin/python3
"""Opens the program's event files in TensorBoard, where it is installed.

    tensorboard_test.py PROGRAM CASE

Exit status 77: skipped, with the reason printed.
"""

import json
import sys

from lab_program import check, run, run_case

SKIPPED = 77


def case_scalars(program, home):
    """TensorBoard reads the same values that the program reports."""
    logdir = home.file("events")
    result = run(program, home, "train", "--model", "softmax", "--synthetic-train", "512",
                 "--synthetic-test", "64", "--batch", "128", "--epochs", "2", "--logdir", logdir,
                 "--json")  # fmt: skip
    check(result.returncode == 0, result.stderr)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    (folder,) = logdir.iterdir()
    events = EventAccumulator(str(folder)).Reload()
    tags = {"loss/train": "loss", "accuracy/train": "accuracy", "speed/images_per_s": "images_per_s"}
    steps = [one for one in lines if one["type"] == "step"]
    for tag, key in tags.items():
        found = events.Scalars(tag)
        check([e.step for e in found] == [one["step"] for one in steps], f"steps of {tag}: {found}")
        for event, one in zip(found, steps):
            check(abs(event.value - one[key]) <= 1e-6 * abs(one[key]), f"{tag}: {event}, {one}")
    tested = [one["test_acc"] for one in lines if one["type"] == "epoch"]
    found = [event.value for event in events.Scalars("accuracy/test")]
    check(len(found) == len(tested), f"{found}, not {tested}")
    check(all(abs(a - b) < 1e-6 for a, b in zip(found, tested)), f"{found}, not {tested}")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError as missing:
        print(f"skipped: TensorBoard is not installed ({missing}); install it with pip")
        sys.exit(SKIPPED)
    sys.exit(run_case(CASES, *sys.argv[1:3]))
