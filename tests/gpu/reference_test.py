#!/usr/bin/env python3
"""Tests the references that reference.py creates and the results it rejects."""
import contextlib
import io
import json
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import reference

DEVICES = [
    {"type": "device", "device": "cpu:0", "name": "Model  CPU", "simd": "AVX2", "threads": 2, "caches": [],
     "clock_max_mhz": None, "memory_total_bytes": 8, "utilisation": 0.5},
    {"type": "device", "device": "cuda:0", "name": "Model GPU", "threads": 0, "memory_total_bytes": 80,
     "gpu": {"driver_version": "580.82", "cuda_version": "13.0", "sms": 132, "processes": [{"pid": 7}]}}]


def summary(*steps):
    return {"type": "run", "date": "2026-01-31", "device_lab": "0.1.0", "steps": steps}


def matmul(device="cuda:0", **changes):
    return {"type": "sample", "device": device, "kernel": "naive", "n": 64, "verified": True} | changes


def transfer(start="cpu:0", end="cuda:0", **changes):
    return {"type": "sample", "from": start, "to": end, "bytes": 1024, "verified": True} | changes


def step(name, status=0, command="device-lab matmul --json"):
    return {"step": name, "command": command, "status": status, "seconds": 1}


DONE = {"type": "done", "seconds": 1}


class Reference(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out.json"
        self.write("devices.jsonl", *DEVICES, DONE)
        self.write("summary.json", summary(step("matmul_f32"), step("transfer_up"), step("gpu_test_memory", 1)))
        self.write("matmul_f32.jsonl", matmul(), DONE | {"peaks": [{"device": "cuda:0"}], "ceilings": [{}]})
        self.write("transfer_up.jsonl", transfer(), DONE | {"fits": [{"from": "cpu:0"}, {"from": "cuda:0"}]})

    def write(self, name, *objects):
        (self.folder / name).write_text("".join(json.dumps(one) + "\n" for one in objects))

    def run_script(self, *options):
        output = io.StringIO()
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
            status = reference.main([*options, str(self.folder), str(self.out)])
        return status, output.getvalue()

    def made(self, *options):
        status, output = self.run_script(*options)
        self.assertEqual(status, 0, output)
        return json.loads(self.out.read_text())

    def refused(self, part, *options):
        status, output = self.run_script(*options)
        self.assertEqual(status, 1, output)
        self.assertIn(part, output)
        self.assertEqual(output.count("\n"), 1, output)
        self.assertFalse(self.out.exists())

    def test_gpu(self):
        made = self.made()
        self.assertEqual((made["type"], made["format"], made["kind"]), ("machine", 1, "cuda"))
        self.assertEqual(made["name"], "Model GPU")
        self.assertEqual(made["date"], "2026-01-31")
        self.assertEqual(made["made_with"], {"device_lab": "0.1.0", "driver": "580.82", "cuda": "13.0"})
        self.assertEqual(made["settings"], {"cache": "warm", "commands": ["device-lab matmul --json"] * 2})
        self.assertEqual(made["device"]["gpu"], {"sms": 132})
        self.assertEqual(made["matmul"], [matmul()])
        self.assertEqual(made["transfers"], [transfer()])
        self.assertEqual((len(made["peaks"]), len(made["ceilings"]), len(made["fits"])), (1, 1, 2))

    def test_archive(self):
        expected = self.made()
        with tarfile.open(self.folder / "results.tar.gz", "w:gz") as archive:
            for file in sorted(self.folder.glob("*.jsonl")):
                archive.add(file, f"./{file.name}")
                file.unlink()
        self.assertEqual(self.made(), expected)

    def test_cpu(self):
        self.write("matmul_f32.jsonl", matmul("cpu:0"), DONE)
        self.write("transfer_up.jsonl", transfer("cpu:0", "cpu:0"), DONE)
        made = self.made()
        self.assertEqual((made["kind"], made["name"]), ("cpu", "Model CPU, 2 threads"))
        self.assertEqual(made["made_with"], {"device_lab": "0.1.0"})
        self.assertNotIn("utilisation", made["device"])
        self.assertEqual(self.made("--name", "Mine")["name"], "Mine")

    def test_files_without_a_summary(self):
        (self.folder / "summary.json").unlink()
        self.refused("give --date")
        made = self.made("--date", "2026-02-01", "--lab", "0.2", "--cache", "cold")
        self.assertEqual((made["date"], made["made_with"]["device_lab"]), ("2026-02-01", "0.2"))
        self.assertEqual(made["settings"], {"cache": "cold", "commands": []})
        self.out.unlink()
        self.refused("write it as", "--date", "yesterday", "--lab", "0.2", "--cache", "cold")

    def test_failed_results(self):
        self.write("matmul_f32.jsonl", matmul(), {"type": "error", "code": "cuda", "message": "it fell off"})
        self.refused("failed: it fell off")
        self.write("matmul_f32.jsonl", matmul())
        self.refused("was cut off")
        self.write("matmul_f32.jsonl")
        self.refused("was cut off")
        self.write("matmul_f32.jsonl", matmul(), DONE)
        self.write("summary.json", summary(step("matmul_f32", 124)))
        self.refused("ended with status 124")
        self.write("summary.json", summary({"step": "matmul_f32", "not_run": "no time"}))
        self.refused("was skipped: no time")

    def test_unverified_results(self):
        for changes in ({"verified": False}, {"verified": None}):
            self.write("matmul_f32.jsonl", matmul(**changes), DONE)
            self.refused("not verified")

    def test_several_devices(self):
        self.write("matmul_f32.jsonl", matmul(), matmul("cuda:1"), DONE)
        self.refused("covers one device")
        self.write("matmul_f32.jsonl", matmul("cpu:0"), DONE)
        self.refused("the ladder ran on cpu:0")
        self.write("matmul_f32.jsonl", matmul("cpu:0"), matmul("cpu:1"), DONE)
        self.write("transfer_up.jsonl", DONE)
        self.refused("results of cpu:0, cpu:1")
        self.write("matmul_f32.jsonl", matmul("cuda:3"), DONE)
        self.refused("does not list cuda:3")

    def test_mixed_caches(self):
        self.write("summary.json", summary(step("matmul_f32"), step("transfer_up", 0, "transfer --cache cold")))
        self.refused("some commands ran with cold caches")

    def test_cold_caches(self):
        for command in ("matmul --cache cold --json", "matmul --cache=cold --json"):
            self.write("summary.json", summary(step("matmul_f32", 0, command)))
            self.assertEqual(self.made()["settings"], {"cache": "cold", "commands": [command]})

    def test_uses_the_labs_cuda_version(self):
        gpu = DEVICES[1] | {"gpu": DEVICES[1]["gpu"] | {"runtime_version": "12.9"}}
        self.write("devices.jsonl", DEVICES[0], gpu, DONE)
        self.assertEqual(self.made()["made_with"]["cuda"], "12.9")

    def test_broken_files(self):
        for text in ("{", "[1]\n", "{}\n", '{"type": "sample", "gflops": NaN}\n', "\xff"):
            (self.folder / "matmul_f32.jsonl").write_bytes(text.encode("latin-1"))
            self.refused("matmul_f32.jsonl")
        self.write("matmul_f32.jsonl", {"type": "sample", "kernel": "x", "verified": True}, DONE)
        self.refused("lacks 'device'")

    def test_missing_files(self):
        (self.folder / "devices.jsonl").unlink()
        self.refused("devices.jsonl is missing")
        for file in self.folder.glob("*.jsonl"):
            file.unlink()
        self.refused("no transfer*.jsonl and no matmul*.jsonl")


if __name__ == "__main__":
    unittest.main()
