#!/usr/bin/python3
"""Checks the keys of every JSON object that the command line prints, and its exit statuses.

    contract_test.py PROGRAM CASE

Users' scripts read these objects, so a key in KEYS must keep its name and place. Add a new key to KEYS
together with the code that prints it.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from lab_program import check, run, run_case
from ranks_test import MPIRUN, SKIPPED, make_set
from terminal_test import json_of, objects

REFERENCE = pathlib.Path(__file__).parents[2] / "assets/reference/d2l-resnet18-1gpu.json"


def keys(*names, **inner):
    """The keys of an object, as space-separated strings, or as lists for keys that contain spaces.
    "key?" is optional: only some machines or options print it. `inner` gives the keys of nested
    objects, as [keys(...)] for an array of objects."""
    found = {}
    for some in names:
        for name in some.split() if isinstance(some, str) else some:
            found[name.rstrip("?")] = (not name.endswith("?"), inner.get(name.rstrip("?")))
    assert set(inner) <= set(found), f"nested keys without a parent: {sorted(set(inner) - set(found))}"
    return found


REASONS = "the keys beside it that are null"
TIMING = "median_s p10_s p90_s"
REPETITIONS = "samples warmup unstable"
SPLIT = "compute_s all_reduce_s exposed_s imbalance_s"
CHECKS = [keys("what passed detail")]
PCIE = keys("generation width")
PEER_ACCESS = keys("possible why_not?")
GPU = keys(
    # Facts: constant while the program runs.
    "pci_bus_id name architecture compute_capability sms cuda_cores memory_bus_bits "
    "sm_clock_max_mhz graphics_clock_max_mhz memory_clock_max_mhz video_clock_max_mhz power_limits "
    "slowdown_c pcie_best nvlink ecc mig numa_node near_cpus uuid serial vbios_version "
    "driver_version cuda_version runtime_version peers memory_total_bytes missing?",
    # Readings: absent for a GPU that the driver does not report.
    "asleep? utilisation? memory_utilisation? encoder_utilisation? decoder_utilisation? "
    "sm_clock_mhz? graphics_clock_mhz? memory_clock_mhz? video_clock_mhz? memory_used_bytes? "
    "memory_free_bytes? power_w? power_limit_w? temperature_c? fan? performance_state? "
    "clock_limits? pcie? pcie_received_bytes_per_s? pcie_sent_bytes_per_s? persistence_mode? "
    "compute_mode? display_active? ecc_errors? processes?",
    power_limits=keys("default_w min_w max_w"),
    pcie_best=PCIE,
    pcie=PCIE,
    nvlink=keys("links active version"),
    ecc_errors=keys("corrected uncorrected"),
    peers=[keys("pci_bus_id read write nvlink missing?", read=PEER_ACCESS, write=PEER_ACCESS,
                nvlink=PEER_ACCESS, missing=REASONS)],
    processes=[keys("pid name type memory_bytes utilisation encoder_utilisation "
                    "decoder_utilisation gpu_instance compute_instance missing?",
                    missing=REASONS)],
    missing=REASONS,
)  # fmt: skip

# Objects whose keys depend on the command are keyed by "command type".
KEYS = {
    "device": keys(
        "type device name simd simd_detail simd_cap cores core_kinds threads packages numa_nodes caches "
        "clock_max_mhz clock_nominal? memory_total_bytes memory_limit_bytes details t_s utilisation "
        "core_utilisation clock_mhz temperature_c memory_available_bytes lab_used_bytes "
        "lab_peak_bytes missing",
        "lab_pinned_bytes? lab_workspace_bytes? lab_pool_bytes? lost? gpu? emulated?",
        core_kinds=[keys("kind name core_type clock_max_mhz clock_base_mhz capacity cores")],
        caches=[keys("level size_bytes instances line_bytes")],
        details=keys(
            ["Hardware threads?", "Virtual machine?", "Processor quota?", "Memory limit?"],
            ["Emulated?", "Memory?"],
            ["Compute capability?", "Multiprocessors?", "Shared memory?", "Copy engines?"],
            ["PCI address?", "CUDA of the driver?", "CUDA of the lab?", "Memory pools?"],
        ),
        missing=REASONS,
        gpu=GPU,
    ),
    "skip": keys("type what reason gpu?", gpu=GPU),
    "fail": keys("type device kernel dtype n reason max_error"),
    "progress": keys("type done what left_s"),
    "error": keys("type code message"),
    "step": keys(
        "type step epoch loss images images_per_s t_s accuracy lr devices? missing?",
        devices=[keys("rank device images compute_s all_reduce_s exposed_s wait_s missing?", missing=REASONS)],
        missing=REASONS,
    ),
    "epoch": keys("type epoch train_loss train_acc test_acc seconds images_per_s missing?", missing=REASONS),
    "matmul sample": keys(
        "type device kernel dtype m n k gflops verified share_of_library share_of_peak library "
        "max_error intensity clock_mhz clock_nominal?",
        TIMING, REPETITIONS,
    ),
    "together matmul sample": keys(
        "type device together dtype m n k gflops verified", TIMING, REPETITIONS
    ),
    "transfer sample": keys(
        "type from to memory bytes n gb_per_s verified op threads mover peer? clock_mhz clock_nominal?",
        TIMING, REPETITIONS,
    ),
    "train sample": keys(
        "type device layer kind shape pass kernels method n warmup flop gflops share_of_peak bytes "
        "intensity",
        TIMING,
    ),
    "measured scaling sample": keys(
        "type predicted mode devices batch images_per_s speedup efficiency hidden_share test_acc "
        "accuracy_steps shares_cores clock_mhz clock_nominal?",
        TIMING, REPETITIONS, SPLIT,
    ),
    "predicted scaling sample": keys(
        "type predicted mode devices batch link basis step_s images_per_s speedup efficiency "
        "process_s fixed_s measured_step_s withheld?",
        SPLIT,
    ),
    "comparison": keys("type system style link devices batch one_device_images_per_s "
                       "published_images_per_s predicted_images_per_s error counted source"),
    "tensor": keys("type statement",
                   "name? device? shape? dtype? bytes? values? preview? id? aliases? copy_s? "
                   "answer?"),
    "lesson": keys("type name title track devices question choices vary",
                   vary=keys("label low high value")),
    "guess": keys("type lesson question text values"),
    "prediction": keys("type lesson series x? x_unit? value unit formula constants",
                       constants=[keys("name value unit")]),
    "lesson sample": keys("type lesson series group? x? x_unit? text? value? unit? draws? p10? p90? n? unstable?"),
    "span": keys("type lesson lane what begin_s end_s stall"),
    "gap": keys("type lesson what unit predicted measured parts note? modelled?", parts=[keys("cause value")]),
    "frame": keys("type lesson sequence step title rows moves?",
                  rows=[keys("name group? values? text?")],
                  moves=[keys("from to first count adds")]),
    "map": keys("type lesson devices links",
                devices=[keys("device name cores memory_bytes caches",
                              caches=[keys("level size_bytes cores")])],
                links=[keys("from to what")]),
    "class": keys("type lesson people bins", people=[keys("file guess answer")],
                  bins=[keys("label low high guesses answers")]),
    "lesson done": keys("type seconds others_share? lesson? sentence? explanation? warnings? marks? checks? "
                        "answer? vary? lessons?",
                        marks=[keys("name value unit")], checks=CHECKS,
                        lessons=[keys("lesson sentence explanation? warnings? marks? checks answer vary "
                                      "seconds others_share?",
                                      marks=[keys("name value unit")], checks=CHECKS)]),
    "devices done": keys("type seconds"),
    "figure": keys("type device question unit value reason? median? p10? p90? n? unstable? threads? "
                   "plain_share? best_share? share_unsteady? all_threads_s?"),
    "tour done": keys("type seconds others_share?"),
    "tensor done": keys("type seconds"),
    "matmul done": keys(
        "type seconds others_share? cache? budget_s? seed? peaks? ceilings? together?",
        together=[keys("devices n products rounds in_sequence_s at_once_s speedup p10 p90 "
                       "shares_cores")],
        peaks=[keys("device dtype threads? amx? gflops", TIMING, REPETITIONS)],
        ceilings=[keys(
            "device threads? compute bandwidth",
            compute=[keys("name dtype gflops threads?", TIMING, REPETITIONS)],
            bandwidth=[keys("name cache_bytes working_set_bytes gb_per_s median_gb_per_s "
                            "p10_gb_per_s p90_gb_per_s copied?", TIMING, REPETITIONS)],
        )],
    ),
    "transfer done": keys(
        "type seconds others_share? cache budget_s? fits? timelines? payoffs?",
        fits=[keys("from to memory op threads latency_s gb_per_s levels mover peer? "
                   "break_even_bytes faster_to_bytes?",
                   levels=[keys("name to_bytes sizes latency_s? gb_per_s? residual?")])],
        timelines=[keys("device bytes runs overlapped_s serial_s spans",
                        spans=[keys("stream what begin_s end_s")])],
        payoffs=[keys("host card memory passes from_bytes")],
    ),
    "train done": keys(
        "type seconds others_share? test_acc images_per_s devices steps training_seconds ranks model "
        "width data synthetic batch lr lr_scale warmup_epochs schedule label_smoothing augment first_layer "
        "stop_at momentum weight_decay epochs order seed kernels dtype convolution shares parameters train_images test_images",
        "reached_s? idle_devices? split? hidden_share? changes? checkpoint? saved_file? profile? missing?",
        changes=[keys("step setting before after")],
        split=keys(SPLIT, "missing?", missing=REASONS),
        missing=REASONS,
        profile=keys(
            "device images threads dtype peak_gflops steps",
            steps=[keys(
                "kernels n warmup median_s? p10_s? p90_s? rows_s? unaccounted_s? shares?",
                shares=keys("batch forward loss backward all_reduce update"),
            )],
        ),
    ),
    "scaling done": keys(
        "type seconds others_share? model data batch measured steps warmup rounds link "
        "predict_devices fixed_s style reading_s reference_file?"
    ),
    "scaling check done": keys("type seconds rows median_error worst_error"),
}  # fmt: skip

IMAGES = ["--synthetic-train", "512", "--synthetic-test", "256", "--batch", "64"]
FEW_IMAGES = ["--synthetic-train", "16", "--synthetic-test", "8", "--batch", "4", "--no-eval"]
TWO_DEVICES = ["--cpu-devices", "2", "--devices", "cpu:0,cpu:1"]
SHORT = ["--budget", "0.02"]


def name_of(command, one):
    """The name in KEYS of an object that `command` printed."""
    if one["type"] == "sample" and "predicted" in one:
        return f"{'predicted' if one['predicted'] else 'measured'} {command} {one['type']}"
    if one["type"] == "sample" and "together" in one:
        return f"together {command} {one['type']}"
    return f"{command} {one['type']}" if one["type"] in ("sample", "done") else one["type"]


def follow(value, listed, path, parent, shown):
    """Checks the value at `path` against its listed keys; adds the paths of all keys to `shown`."""
    if listed is None:
        nested = value[0] if isinstance(value, list) and value else value
        check(not isinstance(nested, dict), f"{path} holds an object; add its keys to KEYS")
    elif value is None:
        return
    elif listed is REASONS:
        for key in value:
            check(parent.get(key, 0) is None, f"{path}.{key}: {key!r} beside it must be null")
    elif isinstance(listed, list):
        check(isinstance(value, list), f"{path} is not an array: {value}")
        for item in value:
            follow(item, listed[0], path + "[]", parent, shown)
    else:
        check(isinstance(value, dict), f"{path} is not an object: {value}")
        for key, (required, _) in listed.items():
            check(key in value or not required, f"{path} lacks the required key {key!r}: {value}")
        for key, inner in value.items():
            check(key in listed, f"{path} has the unknown key {key!r}; add it to {path!r} in KEYS of "
                  "contract_test.py, as 'key?' if only some machines or options print it")  # fmt: skip
            shown.add(f"{path}.{key}")
            follow(inner, listed[key][1], f"{path}.{key}", value, shown)


def follow_all(command, found, *shows):
    """Checks all objects of a command; each path in `shows`, such as "device.caches", must occur."""
    shown = set()
    for one in found:
        name = name_of(command, one)
        check(name in KEYS, f"KEYS has no {name!r}; add its keys: {sorted(one)}")
        follow(one, KEYS[name], name, {}, shown)
    for path in shows:
        check(path in shown, f"no object of {command} has {path}")


def case_devices(program, home):
    """One reading, and repeated readings until Ctrl-C."""
    follow_all("devices", json_of(program, home, "devices", "--cpu-devices", "2"),
               "device.details.Hardware threads", "device.details.Memory limit")  # fmt: skip
    found = json_of(program, home, "devices", "--emulated-gpus", "2")
    follow_all("devices", found, "device.emulated", "device.details.Emulated")
    emulated = [one["device"] for one in found if one.get("emulated")]
    check(emulated == ["emu:0", "emu:1"], f"{found}")
    with subprocess.Popen([program, "devices", "--watch", "0.1", "--json"], env=home.env,
                          cwd=home.path, text=True, stdout=subprocess.PIPE) as process:  # fmt: skip
        lines = []
        while sum('"device":"cpu:0"' in line for line in lines) < 2:
            lines.append(process.stdout.readline())
            check(lines[-1], f"ended early: {lines}")
        process.send_signal(signal.SIGINT)
        lines.append(process.communicate(timeout=60)[0])
    check(process.returncode == 130, f"status {process.returncode} after Ctrl-C")
    follow_all("devices", objects("".join(lines)), "devices done.seconds")


def case_tensor(program, home):
    """Statements about tensors: one object per result, with all values of a small tensor."""
    found = json_of(program, home, "tensor", "--cpu-devices", "2", "X = tensor([[1, 2], [3, 4]])",
                    "Y = X.to(cpu:1)", "Y + Y", "del X")  # fmt: skip
    follow_all("tensor", found, "tensor.values", "tensor done.seconds")
    tensors = [one for one in found if one["type"] == "tensor"]
    check([t.get("device") for t in tensors] == ["cpu:0", "cpu:1", "cpu:1", None], f"{tensors}")
    check(tensors[2]["values"] == [[2, 4], [6, 8]], f"{tensors[2]}")
    check(tensors[1]["copy_s"] > 0, f"{tensors[1]}")
    edge_cases = {"ones(100, 100)": None, "zeros(9000000000000000, 0)": [],
                  "full((), 7, dtype=i64)": 7, "tensor([[[1], [300]]], dtype=i32)": [[[1], [300]]]}  # fmt: skip
    found = json_of(program, home, "tensor", *edge_cases)
    tensors = [one["values"] for one in found if one["type"] == "tensor"]
    check(tensors == list(edge_cases.values()), f"{tensors}")


def case_lesson(program, home):
    """The list of lessons, one lesson with a guess, and all of them within their time."""
    listed = json_of(program, home, "lesson")
    follow_all("lesson", listed, "lesson.question")
    names = [one["name"] for one in listed if one["type"] == "lesson"]
    check(names[:3] == ["devices", "tensors", "copies"], f"{names}")
    found = json_of(program, home, "lesson", "copies", "--guess", "error", "--vary", "1")
    follow_all("lesson", found, "guess.text", "prediction.constants[].name", "lesson sample.n",
               "gap.parts[].cause", "lesson done.checks[].what")
    order = [one["type"] for one in found]
    check(order[0] == "guess" and order[-1] == "done", f"{order}")
    check(order.index("prediction") < order.index("gap"), f"{order}")
    found = json_of(program, home, "lesson", "all", timeout=300)
    follow_all("lesson", found, "span.lane", "lesson sample.draws", "frame.rows[].values",
               "frame.moves[].adds", "map.devices[].caches[].cores")  # fmt: skip
    runs = {len(one["draws"]) for one in found if "draws" in one}
    check({103, 104, 138} <= runs, f"recorded runs of the book are missing: {sorted(runs)}")
    done = found[-1]
    skipped = [one for one in found if one["type"] == "skip"]
    ended = len(done["lessons"]) + len(skipped)
    check(ended == len(names), f"{ended} of {len(names)} lessons ended")
    check(done["seconds"] < 300, f"all lessons took {done['seconds']} s")
    # A skipped lesson must not replace the time of the one before it.
    roofline = next(one for one in done["lessons"] if one["lesson"] == "roofline")
    check(roofline["seconds"] > 0.5, f"roofline took {roofline['seconds']} s")
    broken = [c for one in done["lessons"] for c in one["checks"] if not c["passed"]]
    check(not broken, f"{broken}")


def case_class(program, home):
    """Guesses and results of several people, from files or a folder; errors name the file."""
    people = home.file("people")
    people.mkdir()
    for name, guess in (("ann", "1"), ("bo", "2"), ("cy", "2")):
        found = run(program, home, "lesson", "copies", "--guess", guess, "--vary", "1", "--json")
        (people / f"{name}.json").write_text(found.stdout)
    found = json_of(program, home, "lesson", "copies", "--class", people)
    follow_all("lesson", found, "class.people[].guess", "class.bins[].answers")
    (bins,) = (one["bins"] for one in found if one["type"] == "class")
    check([one["guesses"] for one in bins] == [1, 2, 0], f"{bins}")
    check(sum(one["answers"] for one in bins) == 3, f"{bins}")
    printed = run(program, home, "lesson", "copies", "--class", people / "ann.json").stdout
    check("measured: 1" in printed and "files: 1" in printed, printed)
    (people / "dee.json").write_text("no JSON")
    error = json_of(program, home, "lesson", "copies", "--class", people, status=1)[-1]
    check("dee.json" in error["message"], f"{error}")


def case_transfer(program, home):
    """Copies between two CPU devices, with one thread and with all threads; pointer chase needs a GPU."""
    follow_all("transfer", json_of(program, home, "transfer", "--sizes", "4KiB,64KiB,1MiB,4MiB",
                                   "--ops", "copy,triad,chase", "--threads", "both", "--cpu-devices", "2",
                                   *SHORT),
               "transfer sample.op", "transfer done.fits", "skip.reason")  # fmt: skip


def case_tour(program, home):
    """Four figures for each device; an emulated GPU is skipped."""
    tour = json_of(program, home, "tour", "--cpu-devices", "2", "--emulated-gpus", "1", "--seconds", "0.4")
    follow_all("tour", tour, "tour done.seconds", "skip.reason", "figure.p10")
    figures = [one for one in tour if one["type"] == "figure"]
    named = sorted((one["device"], one["question"]) for one in figures)
    questions = ("bandwidth", "peak", "small_copy", "training")
    check(named == [(f"cpu:{i}", q) for i in (0, 1) for q in questions], f"{named}")
    for one in figures:
        check(one["value"] > 0 and one["p10"] <= one["median"] <= one["p90"] and one["n"] > 0, f"{one}")


def case_matmul(program, home):
    """All rungs of the ladder in f32 and bf16; bf16 skips some rungs."""
    for dtype, *shows in (
        ("f32", "matmul sample.share_of_library", "matmul done.peaks[].threads",
         "matmul done.ceilings[].compute[].threads", "matmul done.ceilings[].bandwidth[].name"),
        ("bf16", "skip.reason"),
    ):  # fmt: skip
        found = json_of(program, home, "matmul", "--kernels", "all", "--sizes", "64,100",
                        "--dtype", dtype, *SHORT)  # fmt: skip
        follow_all("matmul", found, *shows)


def case_together(program, home):
    """Products on two devices at once: a sample per device and size, and a speed-up per size."""
    found = json_of(program, home, "matmul", "--together", "--sizes", "64,300", *TWO_DEVICES, *SHORT)
    follow_all("matmul", found, "together matmul sample.together", "matmul done.together[].speedup")
    samples = [one for one in found if one["type"] == "sample"]
    measured = [(one["device"], one["n"]) for one in samples]
    check(measured == [(d, n) for n in (64, 300) for d in ("cpu:0", "cpu:1")], f"{measured}")
    check(all(one["verified"] for one in samples), f"{samples}")
    speedups = found[-1]["together"]
    check([one["n"] for one in speedups] == [64, 300], f"{speedups}")
    check(all(abs(one["in_sequence_s"] / one["at_once_s"] - one["speedup"]) < 1e-3
              for one in speedups), f"{speedups}")
    error = json_of(program, home, "matmul", "--together", status=1)[-1]
    check("needs two devices" in error["message"], f"{error}")


def case_train(program, home):
    """Saved weights, image files, checkpoints and two devices."""
    checkpoints, weights = home.file("checkpoints"), home.file("mlp.safetensors")
    for args, *shows in (
        (["--model", "mlp", "--epochs", "1", "--save", weights, *IMAGES],
         "epoch.test_acc", "progress.left_s", "train done.saved_file"),
        (["--model", "lenet", "--data-dir", make_set(home.path), "--steps", "2", "--batch", "16"],
         "train done.test_images"),
        (["--model", "lenet", "--steps", "2", "--checkpoint", checkpoints, "--every", "1", *IMAGES],
         "train done.checkpoint"),
        (["--model", "lenet", "--steps", "3", "--resume", checkpoints, *IMAGES], "step.loss"),
        (["--model", "resnet18", "--steps", "1", *TWO_DEVICES, *FEW_IMAGES],
         "step.devices", "train done.split", "train done.hidden_share"),
        (["--model", "mlp", "--steps", "2", "--shares", "1,0", *TWO_DEVICES, *IMAGES],
         "train done.idle_devices"),
        (["--model", "resnet18", "--steps", "1", "--dtype", "bf16", *FEW_IMAGES], "step.loss"),
        (["--model", "resnet18", "--steps", "2", "--kernels", "both", *FEW_IMAGES],
         "train done.profile.steps"),
    ):  # fmt: skip
        follow_all("train", json_of(program, home, "train", *args), *shows)


def case_untimed(program, home):
    """A training on emulated GPUs has no rates and no times of parts of a step, and says why."""
    found = json_of(program, home, "train", "--model", "lenet", "--synthetic-train", "16", "--synthetic-test", "8",
                    "--batch", "8", "--steps", "2", "--emulated-gpus", "2", "--devices", "emu:0,emu:1")  # fmt: skip
    reason = "emulated: never timed"
    for one in found:
        if one["type"] not in ("step", "epoch", "done"):
            continue
        check(one["images_per_s"] is None and one["missing"]["images_per_s"] == reason, f"{one}")
        for device in one["devices"] if one["type"] == "step" else ():
            check(device["compute_s"] is None and device["missing"]["wait_s"] == reason, f"{device}")
    check(found[-1]["hidden_share"] is None and found[-1]["split"]["compute_s"] is None, f"{found[-1]}")
    follow_all("train", found, "step.devices[].missing", "epoch.missing", "train done.split.missing")


def case_profile(program, home):
    """Time per layer, with the lab's kernels and with the library's."""
    found = json_of(program, home, "train", "--model", "lenet", "--kernels", "both", "--profile",
                    "--steps", "16", "--no-eval", *IMAGES, "--epochs", "2")  # fmt: skip
    follow_all("train", found, "train sample.layer", "train done.profile.steps[].shares.forward")
    check({one.get("kernels") for one in found} >= {"lab", "library"}, f"not both: {found[-1]}")


def case_scaling(program, home):
    """Measurements, and predictions based on a measurement and on a file."""
    follow_all("scaling", json_of(program, home, "scaling", "--model", "mlp", "--cpu-devices", "2",
                                  "--steps", "2", "--rounds", "1", "--accuracy-steps", "2",
                                  "--predict", "4", "--link", "nvlink", *IMAGES),
               "measured scaling sample.test_acc", "predicted scaling sample.link")  # fmt: skip
    follow_all("scaling", json_of(program, home, "scaling", "--reference", REFERENCE,
                                  "--predict", "4"),
               "predicted scaling sample.basis", "scaling done.reference_file")  # fmt: skip
    follow_all("scaling check", json_of(program, home, "scaling", "--check"),
               "comparison.source", "scaling check done.worst_error")  # fmt: skip


def case_gpus(program, home):
    """Objects of two fake GPUs, in a build with CUDA."""
    folder = home.file("lab")
    folder.mkdir()
    program = shutil.copy(program, folder)
    shutil.copy(os.environ["LAB_FAKE_GPUS"], folder)
    follow_all("devices", json_of(program, home, "devices"), "device.lab_pinned_bytes",
               "device.details.Compute capability")  # fmt: skip
    found = json_of(program, home, "transfer", "--devices", "cuda:0,cuda:1",
                    "--sizes", "4KiB,1MiB,4MiB", *SHORT)  # fmt: skip
    follow_all("transfer", found, "transfer sample.peer", "transfer done.fits[].peer",
               "transfer done.timelines[].spans[].stream", "transfer done.payoffs[].from_bytes")
    found = json_of(program, home, "matmul", "--devices", "cuda:0", "--sizes", "64", *SHORT)
    follow_all("matmul", found, "matmul sample.kernel", "matmul done.peaks[].gflops",
               "matmul done.ceilings[].bandwidth[].copied")  # fmt: skip
    check_wrong_kernel(program, home)


def check_wrong_kernel(program, home):
    """A wrong kernel fails by itself: the others are measured, and the exit status is 1."""
    home.env["LAB_FAKE_WRONG"] = "vector"
    command = ("matmul", "--devices", "cuda:0", "--kernels", "naive,vector", "--sizes", "16,32", *SHORT)
    result = run(program, home, *command, "--json")
    found = objects(result.stdout)
    check(result.returncode == 1, f"status {result.returncode}")
    check({(one["kernel"], one["n"]) for one in found if one["type"] == "sample"} ==
          {("naive", 16), ("naive", 32)}, result.stdout)  # fmt: skip
    follow_all("matmul", found, "fail.max_error", "error.message")
    check(found[-1]["type"] == "error" and "vector on cuda:0 failed" in found[-1]["message"], found[-1])
    result = run(program, home, *command)
    check(result.returncode == 1, f"status {result.returncode}")
    check("vector in f32 at 16 on cuda:0: FAILED, the error of C[0,0] is" in result.stdout, result.stdout)


def case_ranks(program, home):
    """Two processes print one stream of objects."""
    if shutil.which("mpirun") is None:
        print("skipped: mpirun is missing (package openmpi-bin)")
        sys.exit(SKIPPED)
    result = run(MPIRUN[0], home, *MPIRUN[1:], "-n", 2, program, "train", "--model", "mlp",
                 "--steps", "2", *IMAGES, "--json")  # fmt: skip
    check(result.returncode == 0, f"status {result.returncode}: {result.stderr}")
    follow_all("train", objects(result.stdout), "step.devices[].rank", "train done.split")


def case_status(program, home):
    """Exit status 0: success, 1: failure, 2: usage; a command without --json reports that in JSON."""
    for status, *args in (
        (0, "version"),
        (0, "devices", "--help"),
        (1, "data", "verify", "--dir", home.path),
        (1, "data", "fetch", "--url", "file:///nonexistent", "--dir", home.path),
        (1, "train", "--resume", "/nonexistent"),
        (1, "transfer", "--from", "cuda:63"),
        (2, "data"),
        (2, "data", "verify", "--frobnicate"),
        (2, "devices", "--watch", "-1"),
        (2, "transfer", "--ops", "nosuch"),
        (2, "matmul", "--dtype", "f7"),
        (2, "train", "--batch", "0"),
        (2, "scaling", "--link", "nosuch"),
        (2, "--frobnicate"),
    ):
        result = run(program, home, *args)
        check(result.returncode == status, f"{args}: status {result.returncode}, not {status}")
        check((result.stderr == "") == (status == 0), f"{args}: {result.stderr!r}")
        if status != 0 and args[0] != "data":
            follow_all(args[0], json_of(program, home, *args, status=status), "error.code")
    for args in (["version"], ["data", "verify"], ["data", "fetch"], ["nosuch"], []):
        error = json_of(program, home, *args, status=2)
        follow_all("", error, "error.message")
        check(len(error) == 1 and error[0]["code"] == "usage", f"{args}: {json.dumps(error)}")


CASES = {name[5:]: case for name, case in globals().copy().items() if name.startswith("case_")}


if __name__ == "__main__":
    sys.exit(run_case(CASES, *sys.argv[1:3]))
