#!/usr/bin/env python3
"""What bars.py says of made-up results, and what peers.py takes from nvbandwidth."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from stand_in import write_program

LARGE = 1 << 30


def product(kernel, n, gflops):
    return {"type": "sample", "kernel": kernel, "n": n, "gflops": gflops}


def copy(memory, gb_per_s, **changes):
    return {"type": "sample", "op": "copy", "memory": memory, "bytes": LARGE, "gb_per_s": gb_per_s} | changes


def peer(what, gb_per_s, tool="PyTorch 2"):
    return {"type": "peer", "tool": tool, "what": what, "gb_per_s": gb_per_s}


PEERS = [peer("host to device", 55), peer("device to host", 54), {"type": "skip"}]


def run_bars(*words):
    return subprocess.run([sys.executable, "-B", HERE / "bars.py", *words], capture_output=True, text=True,
                          check=False)


class Bars(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for dtype, ours in (("f32", 47000), ("bf16", 650000)):
            rates = {"naive": 900, "best": ours, "cublas": ours / 0.94, "cublaslt": 2 * ours}
            self.write(f"matmul_{dtype}.jsonl", product("cublas", 64, 10),
                       *[product(name, n, rates[name]) for name in rates for n in (4096, 8192)])
        self.write("transfer_up.jsonl", copy("pinned", 54.8), copy("pageable", 99),
                   copy("pinned", 99, op="both"), {"type": "done"})
        self.write("transfer_down.jsonl", copy("pinned", 53.9))
        self.write("transfer.jsonl", copy("device", 4250), copy("device", 9000, bytes=1 << 20))
        self.write("peers.jsonl", *PEERS)

    def write(self, name, *objects):
        (self.folder / name).write_text("".join(json.dumps(one) + "\n" for one in objects))

    def bars(self):
        done = run_bars(self.folder)
        return done.returncode, done.stdout + done.stderr

    def rows_missed(self):
        """The table's rows that miss their bar, without their figures; the exit status says the same."""
        status, text = self.bars()
        rows = [line for line in text.splitlines()[1:] if line.endswith("missed")]
        self.assertEqual(status, 1 if rows else 0, text)
        return [row[:44].strip() for row in rows]

    def test_met(self):
        self.assertEqual(self.rows_missed(), [])
        text = self.bars()[1]
        self.assertEqual(len(text.splitlines()), 8, text)
        self.assertRegex(text, r"best fp32 SIMT rung / cuBLAS, N = 8192 +0\.940 +0\.92 +1\.0\n")
        self.assertRegex(text, r"pinned H2D / the best of other tools +0\.996 ")
        self.assertRegex(text, r"copy on the GPU / an H200's 4\.3 TB/s +0\.988 ")

    def test_not_met(self):
        self.write("transfer_up.jsonl", copy("pinned", 53.8))
        self.write("matmul_bf16.jsonl", product("wgmma", 4096, 89), product("cublas", 4096, 100),
                   product("wgmma", 8192, 90), product("cublas", 8192, 100))
        self.assertEqual(self.rows_missed(), ["best bf16 rung / cuBLAS, N = 4096",
                                              "pinned H2D / the best of other tools"])

    def test_any_tool_counts(self):
        self.write("peers.jsonl", *PEERS, peer("device to host", 57, "nvbandwidth v0.8"))
        self.assertEqual(self.rows_missed(), ["pinned D2H / the best of other tools"])

    def test_not_measured(self):
        (self.folder / "transfer.jsonl").unlink()
        self.write("peers.jsonl", {"type": "skip", "what": "PyTorch beside the lab", "reason": "no GPU"})
        self.write("matmul_f32.jsonl", product("async", 4096, 100), product("cublas", 4096, 100),
                   product("async", 8192, 100))
        self.assertEqual(len(self.rows_missed()), 4)
        self.assertEqual(self.bars()[1].count("N/A"), 4)

    def test_a_line_that_is_cut_off(self):
        with open(self.folder / "transfer_down.jsonl", "a", encoding="utf-8") as file:
            file.write('{"type": "samp')
        status, text = self.bars()
        self.assertEqual(status, 0, text)
        self.assertIn("transfer_down.jsonl: a line is cut off", text)

    def test_wrong_words(self):
        for words in ([], ["nowhere"], [self.folder, self.folder]):
            done = run_bars(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn("usage: bars.py RESULTS", done.stderr)


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "torch.py").write_text("raise ImportError('none here')\n")

    def peers(self, nvbandwidth=None):
        if nvbandwidth is not None:
            write_program(self.folder / "nvbandwidth", nvbandwidth)
        environment = os.environ | {"PATH": f"{self.folder}:/usr/bin:/bin", "PYTHONPATH": str(self.folder)}
        done = subprocess.run([sys.executable, "-B", HERE / "peers.py"], env=environment, capture_output=True,
                              text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_no_tool(self):
        first, second = self.peers("exit 1")
        self.assertEqual((first["type"], first["what"]), ("skip", "nvbandwidth beside the lab"))
        self.assertEqual(second, {"type": "skip", "what": "PyTorch beside the lab", "reason": "none here"})

    def test_nvbandwidth(self):
        told = {"nvbandwidth": {"version": "v0.8", "testcases": [
            {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["55.25", "54"]]},
            {"name": "device_to_host_memcpy_ce", "status": "Waived"},
            {"name": "device_to_host_memcpy_sm", "status": "Passed", "bandwidth_matrix": [["53.5"]]}]}}
        found = self.peers(f"echo '{json.dumps(told)}'")[:-1]
        self.assertEqual(found, [peer("host to device", 55.25, "nvbandwidth v0.8"),
                                 peer("device to host", 53.5, "nvbandwidth v0.8")])

    def test_nvbandwidth_of_another_kind(self):
        for words in ("not JSON", '{"nvbandwidth": {"error": "no GPU"}}', "[]"):
            self.assertEqual([one["type"] for one in self.peers(f"echo '{words}'")], ["skip", "skip"], words)


if __name__ == "__main__":
    unittest.main()
