#!/usr/bin/env python3
"""Tests bundle.sh on an existing build: its contents and its size limit.
usage: bundle_test.py BUILD_FOLDER, which contains device-lab"""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from stand_in import write_program

# Libraries provided by the target machine.
THERE = re.compile(r"(ld-linux-[a-z0-9_-]*|lib(c|m|dl|pthread|cuda|cudart|cublas|cublasLt|cudnn|nccl|nvidia-ml))\.so")


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # The fake cmake builds nothing.
        write_program(self.folder / "cmake", "exit 0")

    def bundle(self, folder, build, **variables):
        environment = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"} | variables
        done = subprocess.run([HERE / "bundle.sh", folder, build], env=environment, capture_output=True,
                              text=True, timeout=240, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_contents(self):
        out = self.folder / "bundle"
        status, text = self.bundle(out, BUILD)
        self.assertEqual(status, 0, text)
        size = sum(file.stat().st_size for file in out.iterdir())
        self.assertLess(size, 72 << 20)
        packed = {file.name for file in out.iterdir()}
        self.assertLess({"device-lab", "run_all.sh", "sanitize.sh", "bars.py", "peers.py", "results.py", "libraries.sh",
                         "made_with.txt", "training.py", "torch_models.py"}, packed)
        for name in ("libdevice-lab-cuda.so", "gpu_test_tensor", "gpu_bench_ladder"):
            self.assertEqual(name in packed, (BUILD / name).exists(), name)
        with tarfile.open(out / "libraries.tar.xz") as libraries:
            names = [pathlib.PurePath(name).name for name in libraries.getnames()]
        self.assertIn("libstdc++.so.6", names)
        self.assertEqual([name for name in names if THERE.match(name)], [])
        self.assertRegex((out / "made_with.txt").read_text(),
                         r"needs glibc 2\.\d+\nits libstdc\+\+ needs glibc 2\.\d+\n")

        status, text = self.bundle(out, BUILD)
        self.assertEqual(status, 1)
        self.assertIn("is not empty", text)

    def test_size_limit(self):
        build = self.folder / "build"
        build.mkdir()
        (build / "device-lab").symlink_to(pathlib.Path(sys.executable).resolve())  # several MiB
        status, text = self.bundle(self.folder / "bundle", build, LAB_BUNDLE_MIB="1")
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"bundle has \d+ MiB; it must stay under 1\n")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
