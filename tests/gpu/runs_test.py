#!/usr/bin/env python3
"""Tests run_all.sh and sanitize.sh with stand-ins for the programs of a bundle."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from results import read_files
from stand_in import write_program

LAB = r"""case $1 in
  version) echo "device-lab 0.1.0" ;;
  devices) echo '{"type":"device","device":"cuda:0"}' ;;
  matmul) echo '{"type":"sample","n":64}'; echo '{"type":"fail","n":64}'
          echo 'device-lab: matmul: "wgmma" on cuda:0 failed' >&2; exit 1 ;;
  transfer) if [[ $* == *cpu:0* ]]; then exit 124; fi; echo '{"type":"sample"}' ;;
esac"""
TEST = r"""echo '[       OK ] A.One (1 ms)'; echo '[       OK ] A.Two (1 ms)'
echo '[  SKIPPED ] A.Three (1 ms)'"""
# Measures when it is told to; what it has to compile fails.
TRAINING = """import pathlib, sys, time
while not pathlib.Path(sys.argv[4]).exists():
    time.sleep(0.01)
if sys.argv[2] == "compiled":
    sys.exit("no compiler")
print('{"type": "train"}')
"""
SANITIZER = r"""case "$2 $5$7" in
  memcheck*ladder) echo '=========     Invalid __global__ write of size 4 bytes'; exit 124 ;;
  racecheck*ladder) echo '[       OK ] A.One (1 ms)'; exit 124 ;;
  *tensor) echo 'no tests'; exit 0 ;;
  *) echo '[       OK ] A.One (1 ms)'
     echo '========= ERROR SUMMARY: 0 errors' ;;
esac"""


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("run_all.sh", "sanitize.sh", "libraries.sh"):
            shutil.copy(HERE / name, self.folder)
        # Stand-ins that end with status 124 stand for those that run into their limit.
        write_program(self.folder / "timeout", 'shift 2; exec "$@"')
        self.out = self.folder / "out"

    def run_script(self, name, **variables):
        environment = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"} | variables
        done = subprocess.run([self.folder / name, self.out], env=environment, capture_output=True,
                              text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def bundle(self, needed, gcc_needed):
        """A bundle whose libstdc++ has version 3.4.30, with a script that only sources libraries.sh."""
        gcc = self.folder / "packed/gcc"
        gcc.mkdir(parents=True)
        (gcc / "libstdc++.so.6").write_text("GLIBCXX_3.4.9 GLIBCXX_3.4.30")
        (gcc / "libgcc_s.so.1").write_text("")
        subprocess.run(["tar", "-C", gcc.parent, "-cJf", self.folder / "libraries.tar.xz", "."], check=True)
        (self.folder / "made_with.txt").write_text(f"needs glibc {needed}\nits libstdc++ needs glibc {gcc_needed}\n")
        write_program(self.folder / "start.sh", 'here=${0%/*}; source "$here/libraries.sh"; echo started')

    def machine(self, glibc, glibcxx):
        write_program(self.folder / "getconf", f"echo glibc {glibc}")
        (self.folder / "host").write_text(f"GLIBCXX_3.4.2 {glibcxx}")
        abi = "AArch64" if platform.machine() == "aarch64" else "x86-64"
        write_program(self.folder / "ldconfig",
                      f"echo '\tlibstdc++.so.6 (libc6) => /lib32/x'\n"
                      f"echo '\tlibstdc++.so.6 (libc6,{abi}) => {self.folder / 'host'}'")

    def test_uses_the_newer_libstdcxx(self):
        self.bundle("2.34", "2.36")
        own = self.folder / "lib/libstdc++.so.6"
        for glibcxx, glibc, bundled in (("GLIBCXX_3.4.29", "2.36", True), ("GLIBCXX_3.4.30", "2.35", False),
                                        ("GLIBCXX_3.4.33", "2.39", False)):
            self.machine(glibc, glibcxx)
            status, text = self.run_script("start.sh")
            self.assertEqual((status, text), (0, "started\n"))
            self.assertEqual(own.exists(), bundled, glibcxx)

    def test_names_the_glibc_it_needs(self):
        self.bundle("2.34", "2.36")
        self.machine("2.31", "GLIBCXX_3.4.28")
        status, text = self.run_script("start.sh")
        self.assertEqual(status, 1)
        self.assertIn("start.sh: this bundle needs glibc 2.34 or later, and this machine has 2.31", text)
        self.machine("2.34", "GLIBCXX_3.4.29")
        status, text = self.run_script("start.sh")
        self.assertEqual(status, 1)
        self.assertIn("libstdc++, which is newer than this machine's, needs glibc 2.36 or later", text)

    def test_run_all(self):
        write_program(self.folder / "device-lab", LAB)
        write_program(self.folder / "gpu_test_tensor", TEST)
        (self.folder / "peers.py").write_text("print('{\"type\":\"skip\"}')")
        (self.folder / "training.py").write_text(TRAINING)
        status, text = self.run_script("run_all.sh", LAB_STEP_SECONDS="7")
        self.assertEqual(status, 1, text)
        self.assertEqual({file.name for file in self.out.iterdir()}, {"results.tar.gz", "summary.json"})
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual((summary["type"], summary["device_lab"], summary["status"]), ("run", "0.1.0", 1))
        steps = {one["step"]: one for one in summary["steps"]}
        self.assertEqual((steps["gpu_test_tensor"]["passed"], steps["gpu_test_tensor"]["skipped"]), (2, 1))
        self.assertEqual(steps["devices"]["command"], "device-lab devices --json")
        matmul = steps["matmul_bf16"]
        self.assertEqual((matmul["status"], matmul["samples"], matmul["failed"]), (1, 1, 1))
        self.assertEqual(matmul["why"], 'device-lab: matmul: "wgmma" on cuda:0 failed')
        self.assertEqual(steps["transfer_up"]["why"], "not finished within 7 s")
        self.assertEqual((steps["training_eager"]["status"], steps["training_eager"]["samples"]), (0, 1))
        compiled = steps["training_compiled"]
        self.assertEqual((compiled["status"], compiled["why"]), (1, "no compiler"))
        self.assertEqual(compiled["command"], "training.py device-lab compiled")
        files = read_files(self.out)
        self.assertIn(b'"type":"sample"', files["matmul_bf16.jsonl"])
        self.assertIn("matmul_bf16.log", files)

    def test_training_measures_the_lab(self):
        program = self.folder / "device-lab"
        write_program(program, """for s in 9 6 6; do echo '{"type":"epoch","seconds":'$s'}'; done""")
        command = [sys.executable, "-B", HERE / "training.py", program, "eager"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        steps = [one["step_s"] for one in lines if one["type"] == "train" and one["by"] == "device-lab"]
        self.assertEqual([round(step, 9) for step in steps], [0.1, 0.1])  # 6 s for 60 steps
        write_program(program, "echo lost >&2; exit 3")
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("RuntimeError: lost", done.stdout)

    def test_run_all_skips_steps_without_time(self):
        write_program(self.folder / "device-lab", LAB)
        status, text = self.run_script("run_all.sh", LAB_RUN_SECONDS="0")
        self.assertEqual(status, 1, text)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertTrue(all("time limit" in one["not_run"] for one in summary["steps"]), summary)

    def test_sanitize_tells_unfinished_from_unclean(self):
        write_program(self.folder / "compute-sanitizer", SANITIZER)
        status, text = self.run_script("sanitize.sh", LAB_SANITIZE_SECONDS="7")
        self.assertEqual(status, 1, text)
        self.assertIn("memcheck ladder: not clean, see", text)
        self.assertIn("racecheck ladder: not finished within 14 s; no error until then", text)
        self.assertIn("memcheck transfer: clean; ", text)
        self.assertIn("racecheck tensor: not clean (status 0), see", text)
        self.assertIn("4 clean, 3 not clean, 1 not finished", text)

    def test_sanitize_unfinished_only(self):
        write_program(self.folder / "compute-sanitizer", r"""echo '[       OK ] A.One (1 ms)'
if [[ $2 == racecheck ]]; then exit 124; fi
echo '========= ERROR SUMMARY: 0 errors'""")
        status, text = self.run_script("sanitize.sh", LAB_SANITIZE_SECONDS="7")
        self.assertEqual(status, 2, text)
        self.assertIn("4 clean, 0 not clean, 4 not finished", text)


if __name__ == "__main__":
    unittest.main()
