#!/usr/bin/python3
"""End-to-end tests of the command line: JSON contract, exit statuses, interrupts, bad files.

    terminal_test.py PROGRAM CASE
"""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time

from lab_program import Failure, check, run, run_case

NUMBER, TEXT, FLAG = (int, float), str, bool
CONTRACT = {
    "device": {"device": TEXT, "name": TEXT},
    "matmul": {
        "device": TEXT, "kernel": TEXT, "dtype": TEXT, "m": int, "n": int, "k": int,
        "median_s": NUMBER, "p10_s": NUMBER, "p90_s": NUMBER, "samples": int, "gflops": NUMBER,
        "verified": FLAG, "share_of_library": NUMBER, "share_of_peak": NUMBER,
    },
    "transfer": {
        "from": TEXT, "to": TEXT, "memory": TEXT, "bytes": int, "median_s": NUMBER,
        "p10_s": NUMBER, "p90_s": NUMBER, "n": int, "gb_per_s": NUMBER, "verified": FLAG,
    },
    "step": {
        "step": int, "epoch": int, "loss": NUMBER, "images": int, "images_per_s": NUMBER,
        "t_s": NUMBER,
    },
    "epoch": {
        "epoch": int, "train_loss": NUMBER, "train_acc": NUMBER, "test_acc": NUMBER,
        "seconds": NUMBER, "images_per_s": NUMBER,
    },
    "done": {"seconds": NUMBER},
    "trained": {"seconds": NUMBER, "test_acc": NUMBER, "images_per_s": NUMBER, "devices": list},
    "scaled": {
        "predicted": FLAG, "mode": TEXT, "devices": int, "batch": int, "median_s": NUMBER,
        "p10_s": NUMBER, "p90_s": NUMBER, "samples": int, "images_per_s": NUMBER,
        "speedup": NUMBER, "efficiency": NUMBER, "compute_s": NUMBER, "all_reduce_s": NUMBER,
        "exposed_s": NUMBER, "imbalance_s": NUMBER, "test_acc": NUMBER, "accuracy_steps": int,
        "shares_cores": FLAG,
    },
    "prediction": {
        "predicted": FLAG, "mode": TEXT, "devices": int, "batch": int, "link": TEXT,
        "basis": TEXT, "step_s": NUMBER, "images_per_s": NUMBER, "speedup": NUMBER,
        "efficiency": NUMBER, "compute_s": NUMBER, "all_reduce_s": NUMBER, "exposed_s": NUMBER,
        "imbalance_s": NUMBER,
    },
    "skip": {"reason": TEXT},
    "progress": {"done": NUMBER},
    "error": {"message": TEXT},
}  # fmt: skip
SIMD_LEVELS = ("scalar", "sse4", "avx2", "avx512", "neon")
KNOWN_TYPES = {"device", "tensor", "sample", "skip", "step", "epoch", "progress", "error", "fail", "done",
               "lesson", "guess", "prediction", "span", "gap", "comparison", "frame", "map",
               "class", "figure"}  # fmt: skip
SMALL = ["--synthetic-train", "512", "--synthetic-test", "256", "--batch", "64"]


def not_json(word):
    raise Failure(f"{word} is not valid JSON")


def objects(text):
    lines = text.splitlines()
    parsed = [json.loads(line, parse_constant=not_json) for line in lines]
    for one in parsed:
        check(one.get("type") in KNOWN_TYPES, f"unknown type in {one}")
    ends = [one for one in parsed if one["type"] in ("done", "error")]
    check(len(ends) == 1 and parsed[-1] is ends[0], f"ends with {[e['type'] for e in ends]}")
    return parsed


def follow(one, contract, empty=()):
    """Checks that `one` has the contract's keys and value types; keys in `empty` must be null."""
    for key, kind in CONTRACT[contract].items():
        check(key in one, f"{contract} lacks {key}: {one}")
        value = one[key]
        if key in empty:
            check(value is None, f"{contract}.{key} is {value!r}")
            continue
        whole_flag = isinstance(value, bool) and kind is not FLAG
        check(isinstance(value, kind) and not whole_flag, f"{contract}.{key} is {value!r}")


def json_of(program, home, *args, status=0, timeout=60):
    result = run(program, home, *args, "--json", timeout=timeout)
    check(result.returncode == status, f"{args}: status {result.returncode}: {result.stderr}")
    return objects(result.stdout)


def case_json(program, home):
    """Every command's objects have the contract's keys and types."""
    devices = json_of(program, home, "devices", "--cpu-devices", "2")
    named = [d["device"] for d in devices if d["type"] == "device"]
    check(named[:2] == ["cpu:0", "cpu:1"], f"devices are {named}")
    for one in devices:
        follow(one, one["type"])

    for dtype in ("f32", "bf16"):
        matmul = json_of(program, home, "matmul", "--sizes", "64,100", "--devices", "cpu:0",
                         "--dtype", dtype, "--budget", "0.02")  # fmt: skip
        samples = [one for one in matmul if one["type"] == "sample"]
        check({s["n"] for s in samples} == {64, 100}, "sizes are missing")
        # Without AVX-512 no library multiplies bf16; the run reports a skip instead.
        with_library = any(s["library"] for s in samples)
        if not with_library:
            check(dtype == "bf16", f"no library multiplies {dtype}")
            skipped = [one["what"] for one in matmul if one["type"] == "skip"]
            check(any(what.startswith("onednn ") for what in skipped), f"skipped {skipped}")
        for one in samples:
            follow(one, "matmul", empty=() if with_library else ("share_of_library",))
            check(one["dtype"] == dtype, f"not {dtype}: {one}")
            check(one["verified"] and one["gflops"] > 0, f"not verified: {one}")

    transfer = json_of(program, home, "transfer", "--sizes", "4KiB..1MiB", "--from", "cpu:0",
                       "--to", "cpu:0", "--budget", "0.02")  # fmt: skip
    samples = [one for one in transfer if one["type"] == "sample"]
    check(len(samples) >= 9, f"{len(samples)} transfers")
    for one in samples:
        follow(one, "transfer")
        check(one["verified"], f"not verified: {one}")

    train = json_of(program, home, "train", "--model", "softmax", "--epochs", "2", *SMALL)
    steps = [one for one in train if one["type"] == "step"]
    check([s["step"] for s in steps] == list(range(1, 17)), f"{len(steps)} steps")
    epochs = [one for one in train if one["type"] == "epoch"]
    check([e["epoch"] for e in epochs] == [1, 2], f"{epochs}")
    for one in steps:
        follow(one, "step")
    for one in epochs:
        follow(one, "epoch")
    follow(train[-1], "trained")


def case_scaling(program, home):
    """Each device count is measured once, and predictions are marked as such."""
    found = json_of(program, home, "scaling", "--model", "mlp", "--cpu-devices", "2", "--steps",
                    "3", "--rounds", "1", "--accuracy-steps", "4", "--predict", "8", "--link",
                    "pcie4", *SMALL)  # fmt: skip
    samples = [one for one in found if one["type"] == "sample"]
    measured = [one for one in samples if not one["predicted"]]
    check([m["devices"] for m in measured] == [1, 2], f"measured {measured}")
    for one in measured:
        follow(one, "scaled")
    check(measured[1]["all_reduce_s"] > 0, f"no gradients were summed: {measured[1]}")
    predictions = [one for one in samples if one["predicted"]]
    # One that the measurements contradict, as on a busy machine, has no numbers.
    numbers = [key for key, kind in CONTRACT["prediction"].items() if kind is NUMBER]
    for one in predictions:
        follow(one, "prediction", numbers if "withheld" in one else ())
    far = [f["devices"] for f in predictions if f["link"] == "pcie4"]
    check(far == [1, 2, 4, 8], f"predicted {far}")
    near = [f for f in predictions if f["measured_step_s"] is not None]
    check([f["devices"] for f in near] == [1, 2], f"compared with measurements: {near}")
    alone = json_of(program, home, "scaling", "--compute-ms", "52", "--model", "resnet18")
    check(all(one.get("predicted", True) for one in alone), "something was measured")


def case_emulated(program, home):
    """Emulated GPUs compute, and are never timed."""
    gpus = ["--emulated-gpus", "2"]
    found = json_of(program, home, "tensor", *gpus, "X = ones(2, 3, device=try_gpu(1))",
                    "Y = X.to(emu:0)", "Y + Y")  # fmt: skip
    tensors = [one for one in found if one["type"] == "tensor"]
    check([t["device"] for t in tensors] == ["emu:1", "emu:0", "emu:0"], f"{tensors}")
    check(tensors[2]["values"] == [[2] * 3] * 2, f"{tensors[2]}")

    small = ["--model", "lenet", "--synthetic-train", "32", "--synthetic-test", "8", "--batch", "8",
             "--steps", "2"]  # fmt: skip
    losses = {}
    for devices in ("cpu:0", "emu:0", "emu:0,emu:1", "emu:0,cpu:0"):
        trained = json_of(program, home, "train", *small, *gpus, "--devices", devices)
        losses[devices] = [one["loss"] for one in trained if one["type"] == "step"]
        for mine, cpu in zip(losses[devices], losses["cpu:0"], strict=True):
            check(abs(mine - cpu) <= 1e-5 * cpu, f"{losses}")

    for args, what in ((["transfer", "--sizes", "4KiB", "--from", "cpu:0", "--to", "cpu:0,emu:0"],
                        "cpu:0 -> emu:0"),
                       (["matmul", "--sizes", "64", "--devices", "cpu:0,emu:1"], "emu:1")):  # fmt: skip
        found = json_of(program, home, *args, *gpus, "--budget", "0.02")
        skipped = {one["what"]: one["reason"] for one in found if one["type"] == "skip"}
        check(skipped.get(what) == "emulated: never timed", f"{skipped}")
    table = run(program, home, "train", *small, *gpus, "--devices", "emu:0,emu:1").stdout
    check("2 steps in" in table and "/s" not in table and "per step =" not in table, table)
    for status, part, args in (
        (2, "never timed", ["transfer", "--to", "emu:0", *gpus]),
        (2, "never timed", ["matmul", "--devices", "emu:0", *gpus]),
        (2, "never timed", ["matmul", "--together", "--devices", "emu:0,emu:1", *gpus]),
        (2, "never timed", ["lesson", "roofline", "--devices", "cpu:0,emu:0", *gpus]),
        (1, "--emulated-gpus 1", ["train", *small, "--devices", "emu:0"]),
        (1, "--sum auto", ["train", *small, *gpus, "--devices", "emu:0,emu:1", "--sum", "nccl"]),
        (2, "--emulated-gpus", ["train", "--emulated-gpus", "17"]),
    ):
        result = run(program, home, *args)
        check(result.returncode == status, f"status {result.returncode} for {args}")
        check(part in result.stderr, f"{part!r} is missing in {result.stderr!r}")


def case_status(program, home):
    """Usage errors exit with 2, failures with 1; both print one line that names the cause."""
    for status, part, args in (
        (2, "--frobnicate", ["train", "--frobnicate"]),
        (2, "lenet", ["train", "--model", "lennet"]),
        (2, "nosuch", ["matmul", "--kernels", "nosuch"]),
        (2, "tpu:0", ["matmul", "--devices", "tpu:0"]),
        (2, "--sizes", ["matmul", "--sizes", "-5"]),
        (2, "99999999", ["matmul", "--sizes", "99999999"]),
        (2, "matmul", ["matmull"]),
        (1, "cuda:63", ["matmul", "--devices", "cuda:63", "--sizes", "64"]),
        (1, "/nonexistent", ["train", "--data-dir", "/nonexistent"]),
        (1, "w.safetensors", ["train", "--init", "w.safetensors", *SMALL]),
        (1, "/nonexistent", ["train", "--save", "/nonexistent/w.safetensors", "--steps", "1",
                             "--no-eval", "--model", "softmax", *SMALL]),
    ):  # fmt: skip
        result = run(program, home, *args)
        text = result.stderr
        check(result.returncode == status, f"{args}: status {result.returncode}: {text}")
        last = text.splitlines()[-1]
        check(part in last, f"{args}: {part!r} is missing in {text!r}")
        if args[0] != "matmull":
            error = json_of(program, home, *args, status=status)[-1]
            check(error["type"] == "error" and part in error["message"], f"{error}")
            check((error["code"] == "usage") == (status == 2), f"{args}: {error}")
    for word in ("version", "--help"):
        check(run(program, home, word).returncode == 0, f"{word} failed")


def cpu_of(program, home):
    return json_of(program, home, "devices")[0]


def case_simd(program, home):
    """LAB_SIMD caps the lab's kernels and is reported; an unknown level is a usage error."""
    home.env.pop("LAB_SIMD", None)
    best = cpu_of(program, home)
    check(best["simd_cap"] is None and "LAB_SIMD" not in best["simd_detail"], f"{best}")
    names = {best["simd"]}
    for level in SIMD_LEVELS:
        home.env["LAB_SIMD"] = level
        cpu = cpu_of(program, home)
        check(cpu["simd_cap"] == level and "LAB_SIMD" in cpu["simd_detail"], f"{level}: {cpu}")
        check(cpu["simd_detail"].startswith(cpu["simd"]), f"{level}: {cpu}")
        names.add(cpu["simd"])
        shown = run(program, home, "devices").stdout
        check(cpu["simd_detail"] in shown, f"{level}: {shown}")
        for dtype in ("f32", "bf16"):
            found = json_of(program, home, "matmul", "--sizes", "64", "--kernels", "best",
                            "--dtype", dtype, "--budget", "0.02")  # fmt: skip
            samples = [one for one in found if one["type"] == "sample"]
            check(len(samples) == 1 and samples[0]["verified"], f"{level}: {found}")
    if best["simd"] == "AVX-512":
        check({"AVX-512", "AVX2", "SSE4.2"} < names and len(names) == 4, f"{names}")
    home.env["LAB_SIMD"] = "axv2"
    for args in (["devices"], ["version"], []):
        result = run(program, home, *args)
        check(result.returncode == 2, f"{args}: status {result.returncode}: {result.stderr}")
        for part in ("LAB_SIMD", "'axv2'", *SIMD_LEVELS):
            check(part in result.stderr, f"{args}: {part!r} is missing in {result.stderr!r}")
    error = json_of(program, home, "devices", status=2)[-1]
    check(error["code"] == "usage", f"{error}")
    check("LAB_SIMD" in run(program, home, "--help").stdout, "--help does not name LAB_SIMD")


def case_language(program, home):
    """JSON and its messages are English in every locale; --language is checked on every command."""
    def said(*args):
        done = run(program, home, *args)
        return done.returncode, done.stdout, done.stderr

    broken = ("tensor", "X = ones(2", "--json")
    english = said(*broken)
    check("ones" in english[1] or "expected" in english[1], english)
    for language in ("zh", "ja", "vi"):
        home.env["LANGUAGE"] = language
        check(said(*broken) == english, f"{language}: JSON differs")
        check(said("version")[0] == 0 and said("lesson", "--language", language)[0] == 0, language)
    home.env["LANGUAGE"] = "en"
    status, _, message = said("devices", "--language", "latin")
    check(status == 2 and "latin" in message, message)


def case_tables(program, home):
    """Without --json, output is tables, without a progress bar in a pipe."""
    result = run(program, home, "matmul", "--sizes", "64", "--budget", "0.02")
    check("FLOP/s" in result.stdout and "of library" in result.stdout, result.stdout)
    check("\x1b" not in result.stdout + result.stderr, "escape codes in a pipe")
    result = run(program, home, "train", "--model", "softmax", "--epochs", "1", *SMALL)
    check("synthetic" in result.stdout and "test accuracy" in result.stdout, result.stdout)
    tour = run(program, home, "tour", "--seconds", "0.4").stdout
    for text in ("1 of 4", "cpu:0 is", "naive", "Peak", "Memory bandwidth", "Small copy", "4 of 4",
                 "images/s", "n = ", "Next steps"):  # fmt: skip
        check(text in tour, f"{text!r} is missing: {tour}")


def case_interrupt(program, home):
    """Ctrl-C exits with 130 promptly, keeps the output so far and writes a final checkpoint."""
    folder = home.file("checkpoints")
    args = ["train", "--model", "lenet", "--epochs", "1000000", *SMALL, "--json", "--checkpoint", folder]
    process = subprocess.Popen([program, *args], env=home.env, cwd=home.path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    seen = []
    while not any('"step"' in line for line in seen):
        seen.append(process.stdout.readline())
        check(seen[-1], f"ended early: {seen}")
    process.send_signal(signal.SIGINT)
    rest, told = process.communicate(timeout=100)
    check(process.returncode == 130, f"status {process.returncode}")
    everything = objects("".join(seen) + rest)
    end = everything[-1]
    check(end["type"] == "error" and end["code"] == "cancelled", f"{end}")
    steps = max(one["step"] for one in everything if one["type"] == "step")
    newest = folder / f"step-{steps:08}"
    check(f"after step {steps}; " in told and f"--resume {newest}" in told, f"{told!r}")
    result = json_of(program, home, *args[:-3], "--resume", newest, "--steps", steps + 1)
    resumed = [one["step"] for one in result if one["type"] == "step"]
    check(resumed == [steps + 1], f"resumed with {resumed} after {steps}")


def case_emulated_interrupt(program, home):
    """Ctrl-C ends a step, and an evaluation, that emulated GPUs would compute for minutes."""
    wide = ["train", "--model", "resnet18", "--emulated-gpus", "2", "--synthetic-train", "256"]
    for what, args in (
        ("a step", [*wide, "--batch", "64", "--devices", "emu:0"]),
        ("a step on two", [*wide, "--batch", "64", "--devices", "emu:0,emu:1"]),
        ("test images", ["train", "--model", "lenet", "--emulated-gpus", "1", "--devices", "emu:0", "--steps", "1",
                         "--batch", "8", "--synthetic-train", "8", "--synthetic-test", "10000"]),
    ):  # fmt: skip
        process = subprocess.Popen([program, *args, "--json"], env=home.env, cwd=home.path, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        if what == "test images":
            line = process.stdout.readline()
            while " test images" not in line:
                check(line, "no progress of the evaluation")
                line = process.stdout.readline()
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=60)
        check(process.returncode == 130, f"{what}: status {process.returncode}")
        spent = time.monotonic() - began
        check(spent < 5, f"{what} went on for {spent:.1f} s")


def small_files_only():
    """Makes writes past 4 KiB fail, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def case_output(program, home):
    """Standard output on a full disk, and with its reader closed."""
    args = ["train", "--model", "softmax", "--epochs", "1", *SMALL, "--json"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = run(program, home, *args, stdout=full)
    check(result.returncode == 1, f"full disk: status {result.returncode}")
    check("No space left" in result.stderr, f"full disk: {result.stderr!r}")
    weights = home.file("weights.safetensors")
    weights.write_text("what was there before")
    save = ["train", "--model", "softmax", "--steps", "1", "--no-eval", *SMALL, "--save", weights]
    result = run(program, home, *save, preexec_fn=small_files_only)
    check(result.returncode == 1, f"full disk: status {result.returncode}: {result.stderr}")
    check("weights.safetensors" in result.stderr, f"full disk: {result.stderr!r}")
    check(weights.read_text() == "what was there before", "the older file is lost")
    check(sorted(home.path.iterdir()) == [weights], "a partial file was left")
    reader, writer = os.pipe()
    os.close(reader)
    result = run(program, home, *args, stdout=writer)
    os.close(writer)
    check(result.returncode in (1, 141), f"closed pipe: status {result.returncode}")
    check(result.stderr == "", f"closed pipe: {result.stderr!r}")


def case_messages(program, home):
    """If standard error is full, closed or has no reader, only the messages are lost."""
    weights = home.file("weights.safetensors")
    train = ["train", "--model", "lenet", "--steps", "2", "--no-eval", *SMALL, "--save", weights]
    check(run(program, home, *train).stderr != "", "no message is written, so the test is void")
    reader, no_reader = os.pipe()
    os.close(reader)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for what, unwritable in (
            ("full", {"stderr": full}),
            ("without a reader", {"stderr": no_reader}),
            ("closed", {"preexec_fn": lambda: os.close(2)}),
        ):
            weights.unlink()
            result = run(program, home, *train, "--json", **unwritable)
            check(result.returncode == 0, f"{what}: status {result.returncode}")
            check(objects(result.stdout)[-1]["type"] == "done", f"{what}: {result.stdout}")
            check(weights.stat().st_size > 100_000, f"{what}: the weights are truncated")
            result = run(program, home, "train", "--frobnicate", "--json", **unwritable)
            check(result.returncode == 2, f"{what}: usage: status {result.returncode}")
            check(objects(result.stdout)[-1]["type"] == "error", f"{what}: {result.stdout}")
    os.close(no_reader)
    result = run(program, home, *train, preexec_fn=lambda: os.close(1))
    check(result.returncode == 1, f"closed output: status {result.returncode}: {result.stderr}")
    check("standard output" in result.stderr, f"closed output: {result.stderr!r}")


def case_limits(program, home):
    """A limit on the address space limits the device's memory. A product by OpenBLAS, whose threads
    need much of it, is skipped with the reason or fails with it; nothing hangs. Limits under which
    the libraries cannot be loaded or initialised, so that main does not start, are passed over."""
    two_gib = 2 << 30
    result = run(program, home, "devices", "--json",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (two_gib, two_gib)))  # fmt: skip
    cpu = objects(result.stdout)[0]
    check(0 < cpu["memory_limit_bytes"] < two_gib, f"limit of 2 GiB: {cpu}")
    check("2.00 GiB (ulimit -v)" in cpu["details"]["Memory limit"], f"limit of 2 GiB: {cpu}")
    skipped, mib = 0, 200
    while True:
        limit = (mib << 20, mib << 20)
        result = run(program, home, "matmul", "--devices", "cpu", "--sizes", "32", "--kernels",
                     "openblas", "--budget", "0.02", "--json", timeout=60,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))  # fmt: skip
        if result.stdout.startswith("{"):
            told = objects(result.stdout)
            last = told[-1]
            if result.returncode != 0:
                check((last["type"], last["code"]) == ("error", "out of memory"),
                      f"{mib} MiB: status {result.returncode}: {last}")  # fmt: skip
            elif any(line["type"] == "sample" for line in told):
                break
            else:
                reasons = [line["reason"] for line in told if line["type"] == "skip"]
                check("ulimit -v" in str(reasons), f"{mib} MiB: {reasons}")
                skipped += 1
        mib = mib * 9 // 8
        check(mib < 1 << 20, f"1 TiB is not enough: {result.stderr}")
    check(skipped > 0, "OpenBLAS was never skipped")


def case_data(program, home):
    """Broken IDX files are reported with their name and fault, without a crash."""
    folder = home.file("set")
    folder.mkdir()
    names = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte",
             "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]  # fmt: skip

    def idx(kind, count, body):
        shape = b"" if kind == 1 else (28).to_bytes(4, "big") * 2
        return bytes([0, 0, 8, kind]) + count.to_bytes(4, "big") + shape + body

    def write(images):
        for name in names:
            labels = "labels" in name
            good = idx(1, 20, bytes(20)) if labels else idx(3, 20, bytes(20 * 784))
            content = good if labels or images is None else images
            (folder / (name + ".gz")).write_bytes(gzip.compress(content))

    def train(status):
        return run(program, home, "train", "--data-dir", folder, "--model", "softmax", "--batch",
                   "10", "--epochs", "1", "--order", "sequential"), status  # fmt: skip

    write(None)
    result, _ = train(0)
    check(result.returncode == 0, f"small set: {result.stderr}")
    for broken in (
        idx(3, 20, bytes(100)),  # truncated
        idx(3, 4_000_000_000, bytes(100)),  # oversized
        idx(1, 20, bytes(20)),  # mislabelled
        b"\xff" * 64,  # wrong magic
        b"",
    ):
        write(broken)
        result, _ = train(1)
        check(result.returncode == 1, f"{broken[:8]}: status {result.returncode}: {result.stderr}")
        check("images-idx3" in result.stderr, f"{broken[:8]}: {result.stderr!r}")
    result = run(program, home, "data", "verify", "--dir", folder)
    check(result.returncode == 1 and "data fetch" in result.stderr, f"verify: {result.stderr!r}")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    sys.exit(run_case(CASES, *sys.argv[1:3]))
