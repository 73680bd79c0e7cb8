#!/usr/bin/env python3
"""Tests the targets of bars.py: that they follow from the GPU that was measured."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bars


def device(clock_mhz, bus_bits):
    return {"type": "device", "device": "cuda:0",
            "gpu": {"memory_clock_max_mhz": clock_mhz, "memory_bus_bits": bus_bits}}


H100 = device(2619, 5120)
H200 = device(3201, 6144)


def matmul(kernel, n, gflops):
    return {"type": "sample", "kernel": kernel, "n": n, "gflops": gflops}


def copy(memory, gb_per_s):
    return {"type": "sample", "op": "copy", "bytes": 1 << 30, "memory": memory, "gb_per_s": gb_per_s}


def train(model, dtype, by, images_per_s):
    return {"type": "train", "model": model, "dtype": dtype, "by": by, "images_per_s": images_per_s}


class Bars(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for dtype in ("f32", "bf16"):
            self.write(f"matmul_{dtype}.jsonl",
                       *(matmul(kernel, n, 100) for n in (4096, 8192) for kernel in ("own", "cublas")))
        self.write("transfer_up.jsonl", copy("pinned", 55))
        self.write("transfer_down.jsonl", copy("pinned", 55))
        self.write("training_eager.jsonl",
                   train("resnet18", "tf32", "device-lab", 500), train("resnet18", "tf32", "PyTorch eager", 200),
                   train("lenet", "f32", "device-lab", 20), train("lenet", "f32", "PyTorch graph", 10))
        self.write("training_compiled.jsonl", train("resnet18", "bf16", "device-lab", 60000),
                   train("resnet18", "bf16", "PyTorch max-autotune", 40000))
        self.write("train_fast.jsonl", {"type": "done", "reached_s": 2.5})
        self.write("train_accurate.jsonl", {"type": "done", "reached_s": 4})
        for seed, accuracy in enumerate((0.90, 0.91, 0.92)):
            self.write(f"train_seed{seed}.jsonl", {"type": "done", "test_acc": accuracy})
        self.write("peers.jsonl", *({"type": "peer", "what": what, "gb_per_s": 55}
                                    for what in ("host to device", "device to host")))

    def write(self, name, *objects):
        (self.folder / name).write_text("".join(json.dumps(one) + "\n" for one in objects))

    def run_bars(self, gpu, copied_gb_per_s):
        self.write("devices.jsonl", {"type": "device", "device": "cpu:0"}, gpu)
        self.write("transfer.jsonl", copy("device", copied_gb_per_s))
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = bars.main([str(self.folder)])
        return status, output.getvalue()

    def test_copy_bar_follows_the_memory(self):
        status, text = self.run_bars(H100, 3000)
        self.assertEqual(status, 0, text)
        self.assertIn("its memory's 3.35 TB/s", text)
        status, text = self.run_bars(H200, 4300)
        self.assertEqual(status, 0, text)
        self.assertIn("its memory's 4.92 TB/s", text)
        status, text = self.run_bars(H200, 3000)
        self.assertEqual(status, 1, text)
        self.assertIn("0.610   0.85    0.9  missed", text)

    def test_training(self):
        status, text = self.run_bars(H100, 3000)
        self.assertEqual(status, 0, text)
        for row in (r"tf32 / PyTorch eager +2\.500", r"bf16 / PyTorch max-autotune +1\.500",
                    r"epoch of ResNet-18 in bf16 +1\.500", r"LeNet.* +2\.000", r"to 0\.91.* +2\.000", r"to 0\.94.* +1\.250",
                    r"mean accuracy +0\.910"):
            self.assertRegex(text, row)
        (self.folder / "train_seed2.jsonl").unlink()
        status, text = self.run_bars(H100, 3000)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"mean accuracy +N/A")

    def test_unknown_memory_is_missed(self):
        status, text = self.run_bars(device(None, None), 3000)
        self.assertEqual(status, 1, text)
        self.assertIn("unknown rate", text)

    def test_a_failed_kernel_is_listed(self):
        self.write("matmul_tf32.jsonl", {"type": "fail", "kernel": "mma_tf32", "dtype": "tf32", "n": 64,
                                         "reason": "it is wrong"})
        status, text = self.run_bars(H100, 3000)
        self.assertEqual(status, 1, text)
        self.assertIn("failed: mma_tf32 in tf32 at 64: it is wrong", text)


if __name__ == "__main__":
    unittest.main()
