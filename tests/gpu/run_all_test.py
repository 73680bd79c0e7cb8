#!/usr/bin/env python3
"""run_all.sh with programs that stand for the bundle's own: its summary, its limits and its exit status."""
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import reference
from stand_in import write_program

MINUTES_ALLOWED = 8
GPU = json.dumps({"type": "device", "device": "cuda:0", "name": "Model GPU", "threads": 0})
SAMPLE = {"matmul": {"type": "sample", "device": "cuda:0", "kernel": "naive", "verified": True},
          "transfer": {"type": "sample", "from": "cpu:0", "to": "cuda:0", "verified": True}}
LAB = f"""case $1 in
  version) echo 'device-lab 9.9' ;;
  devices) echo '{GPU}' ;;
  matmul) echo '{json.dumps(SAMPLE["matmul"])}' ;;
  transfer) echo '{json.dumps(SAMPLE["transfer"])}' ;;
esac
[[ $1 == version ]] || echo '{{"type":"done"}}'
"""
TESTS = ("ladder", "lost", "matmul", "tensor", "transfer")


class RunAll(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("run_all.sh", "libraries.sh"):
            shutil.copy(HERE / name, self.folder)
        self.program("device-lab", LAB)
        for test in TESTS:
            self.program(f"gpu_test_{test}")
        self.program("gpu_bench_ladder", "echo '{}'")
        (self.folder / "peers.py").write_text("print('{}')\n")

    def program(self, name, text="exit 0"):
        write_program(self.folder / name, text)

    def run_all(self, **limits):
        """(exit status, objects of the summary)."""
        environment = os.environ | {name: str(value) for name, value in limits.items()}
        done = subprocess.run([self.folder / "run_all.sh", self.folder / "results"], env=environment,
                              capture_output=True, text=True, timeout=100, check=False)
        summary = (self.folder / "results/summary.json").read_text()
        return done.returncode, [json.loads(line) for line in summary.splitlines()]

    def make_reference(self, out):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return reference.main([str(self.folder / "results"), str(out)])

    def failed(self, summary):
        return {one["step"]: one["status"] for one in summary if one.get("status", 0) and "step" in one}

    def test_all_is_well(self):
        status, summary = self.run_all()
        self.assertEqual(status, 0, summary)
        self.assertEqual(summary[0]["device_lab"], "9.9")
        self.assertRegex(summary[0]["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertEqual([one["type"] for one in summary[1:]], ["step"] * (len(summary) - 2) + ["done"])
        commands = {one["step"]: one["command"] for one in summary if one["type"] == "step"}
        names = list(commands)
        self.assertEqual(names[:2], ["devices", "gpu_test_ladder"])
        self.assertEqual(names[-2:], ["peers", "gpu_bench_ladder"])
        for name in names:
            if not name.startswith("gpu_test_"):
                self.assertTrue((self.folder / f"results/{name}.jsonl").stat().st_size, name)
        self.assertTrue(commands["devices"].startswith("device-lab devices"), commands)
        self.assertIn("--devices cuda:0 --ops copy ", commands["payoff"])

    def test_what_is_planned_fits(self):
        summary = self.run_all()[1]
        self.assertLess(summary[0]["planned_s"], 60 * MINUTES_ALLOWED - 30)

    def test_the_reference_takes_the_results(self):
        self.run_all()
        out = self.folder / "gpu.json"
        self.assertEqual(self.make_reference(out), 0)
        made = json.loads(out.read_text())
        self.assertEqual((len(made["matmul"]), len(made["transfers"])), (3, 3))

    def test_a_step_that_fails(self):
        self.program("gpu_test_lost", "echo why >&2; exit 3")
        status, summary = self.run_all()
        self.assertEqual(status, 1)
        self.assertEqual(summary[-1]["status"], 1)
        self.assertEqual(self.failed(summary), {"gpu_test_lost": 3})
        self.assertEqual((self.folder / "results/gpu_test_lost.log").read_text(), "why\n")

    def test_a_step_that_hangs_is_ended(self):
        self.program("gpu_test_lost", "exec sleep 90")
        status, summary = self.run_all(LAB_STEP_SECONDS=8)
        self.assertEqual(status, 1)
        self.assertEqual(self.failed(summary), {"gpu_test_lost": 124})

    def test_a_step_that_hangs_leaves_the_others_their_time(self):
        planned_s = self.run_all()[1][0]["planned_s"]
        self.program("device-lab", LAB.replace("devices) ", "devices) exec sleep 90; "))
        started = time.monotonic()
        status, summary = self.run_all(LAB_RUN_SECONDS=planned_s + 2, LAB_STEP_SECONDS=80)
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(status, 1)
        self.assertNotIn("skip", [one["type"] for one in summary])
        self.assertEqual(self.failed(summary), {"devices": 124})

    def test_no_time_is_left(self):
        status, summary = self.run_all(LAB_RUN_SECONDS=0)
        self.assertEqual(status, 1)
        self.assertEqual({one["type"] for one in summary[1:-1]}, {"skip"})
        self.assertIn("time for the whole run is over", summary[1]["reason"])
        self.assertEqual(self.make_reference(self.folder / "gpu.json"), 1)


if __name__ == "__main__":
    unittest.main()
